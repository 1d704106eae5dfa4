import fs from 'node:fs';
import path from 'node:path';
import { RingfenceError } from '../errors.ts';
import { type Backend, type GuardRules, Root } from '../fence/index.ts';
import { listFolder } from '../files/list/list-folder.ts';
import { writeFile } from '../files/write/write-file.ts';
import { type Finding, findingsIn } from './finding.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const { ok, failed } = findingsIn('guards');
const CONTENT = 'as it was';

/** Tries to read, list and change what the rules of a root of its own rule out. */
export async function proveGuards(backend: Backend): Promise<Finding[]> {
  return [
    ...(await proveRule('deny', { deny: ['hidden'], protect: [] }, { file: 'hidden', canRead: false, backend })),
    ...(await proveRule(
      'reserved name',
      { deny: [], protect: [] },
      { file: '.ringfence/log', canRead: false, backend },
    )),
    ...(await proveRule('protect', { deny: [], protect: ['kept'] }, { file: 'kept', canRead: true, backend })),
    ...(await proveRule(
      'read_only',
      { deny: [], protect: [], readOnly: true },
      { file: 'any', canRead: true, backend },
    )),
  ];
}

interface RuledFile {
  readonly file: string;
  readonly canRead: boolean;
  readonly backend: Backend;
}

async function proveRule(name: string, rules: GuardRules, { file, canRead, backend }: RuledFile): Promise<Finding[]> {
  using temporary = new TemporaryFolder();
  const host = path.join(temporary.folder(path.dirname(path.join('root', file))), path.basename(file));
  fs.writeFileSync(host, CONTENT);
  using root = Root.open('doctor', path.join(temporary.path, 'root'), backend, rules);
  const at = root.parse(file);
  const isRead = await succeeds(() => root.openFile(at)[Symbol.dispose]());
  const [top = ''] = file.split('/');
  const isListed = (await listFolder(root, root.parse(''))).some((entry) => entry.name === top);
  const isWritten = await succeeds(() => writeFile(root, at, Buffer.from('changed')));
  const isSame = fs.readFileSync(host, 'utf8') === CONTENT;
  const verdict = (what: string, holds: boolean, words: string): Finding =>
    holds ? ok(`${name}: ${what}`, words) : failed(`${name}: ${what}`, `not so: ${words}`);
  return [
    verdict('read', isRead === canRead, canRead ? 'can be read' : 'cannot be read'),
    verdict('list', isListed === canRead, canRead ? 'is listed' : 'is not listed'),
    verdict('change', !isWritten && isSame, 'cannot be changed'),
  ];
}

async function succeeds(work: () => unknown): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof RingfenceError) return false;
    throw error;
  }
}
