import fs from 'node:fs';
import path from 'node:path';
import { canChange, type LocalRootConfig } from '../config/config.ts';
import { type Backend, type FileSystemFeatures, probeFeatures, temporaryName } from '../fence/index.ts';
import { type Finding, findingsIn } from './finding.ts';

/** Numbers of statfs(2) that people know by a name: https://man7.org/linux/man-pages/man2/statfs.2.html */
const KINDS: Readonly<Record<string, string>> = {
  ef53: 'ext4',
  '58465342': 'xfs',
  '9123683e': 'btrfs',
  '794c7630': 'overlay',
  '1021994': 'tmpfs',
  '6969': 'NFS',
  '65735546': 'FUSE',
  '4d44': 'FAT',
  '2011bab0': 'exFAT',
  '2fc12fc1': 'ZFS',
  '1021997': '9p',
  ff534d42: 'CIFS',
  fe534d42: 'SMB',
};

/** What a feature is for, and what its lack means. */
interface Use {
  readonly key: Exclude<keyof FileSystemFeatures, 'kind'>;
  readonly name: string;
  readonly good: string;
  readonly lack: string;
}

const USES: readonly Use[] = [
  {
    key: 'renameNoReplace',
    name: 'rename without replacing',
    good: 'new files never replace others',
    lack: 'new files and moves are put in place in two steps',
  },
  {
    key: 'renameExchange',
    name: 'exchange',
    good: 'an edit never replaces a change that came in between',
    lack: 'for microseconds, an edit can replace a change of a program that takes no locks',
  },
  {
    key: 'locks',
    name: 'locks on folders',
    good: 'processes wait for each other',
    lack: 'a link in the folder stands for the lock',
  },
  {
    key: 'useMarks',
    name: 'marks of files in use',
    good: 'leftovers of killed processes are told from files in use',
    lack: 'leftovers of killed processes in other containers stay until they are old',
  },
  {
    key: 'hardLinks',
    name: 'hard links',
    good: 'history keeps files without copying',
    lack: 'history copies what it keeps',
  },
  {
    key: 'symbolicLinks',
    name: 'symbolic links',
    good: 'links can be copied and restored',
    lack: 'links cannot be copied here',
  },
  {
    key: 'birthTime',
    name: 'time of creation',
    good: 'created_at is that of the file',
    lack: 'created_at is not known',
  },
];

/** Says what the folder of a root can do, by trying it in a temporary folder there if the root may be changed. */
export function examineRoot(configured: LocalRootConfig, backend: Backend): Finding[] {
  const { ok, info, missing } = findingsIn(`root ${configured.name}`);
  const { path: folder } = configured;
  const kind = fs.statfsSync(folder).type.toString(16);
  const findings = [info('folder', `${folder} on ${KINDS[kind] ?? `a file system of kind 0x${kind}`}`)];
  if (!canChange(configured))
    return [...findings, info('features', 'not tried: the config lets nothing be changed here')];
  const features = tryFeatures(folder, backend);
  if (features === undefined) {
    const advice = 'give this user the right to write there, or set read_only: true';
    return [...findings, missing('writing', 'the config allows changes, but this user cannot write there', advice)];
  }
  const verdicts = USES.map(({ key, name, good, lack }) => {
    const has = features[key];
    if (has === true) return ok(name, good);
    if (has === undefined)
      return missing(name, `${lack}: the ${backend.name} fence cannot use it`, 'use the openat2 fence, see above');
    return missing(name, lack, 'put the root on a local file system such as ext4, xfs or btrfs if that matters');
  });
  return [...findings, ok('writing', 'this user can write there'), ...verdicts];
}

function tryFeatures(folder: string, backend: Backend): FileSystemFeatures | undefined {
  // Never listed, and swept up by the server if this process is killed.
  const trial = path.join(folder, temporaryName());
  try {
    fs.mkdirSync(trial, { mode: 0o700 });
  } catch {
    return undefined;
  }
  try {
    return probeFeatures(backend, trial);
  } finally {
    fs.rmSync(trial, { recursive: true, force: true });
  }
}
