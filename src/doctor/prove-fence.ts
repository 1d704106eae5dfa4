import fs from 'node:fs';
import path from 'node:path';
import { RingfenceError } from '../errors.ts';
import { type Backend, Root } from '../fence/index.ts';
import { writeFile } from '../files/write/write-file.ts';
import { type Finding, findingsIn } from './finding.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const { ok, failed, info } = findingsIn('fence');
const SECRET = 'a secret outside';

/** A way to get out of a root, as a path that a caller writes. */
interface Escape {
  readonly name: string;
  readonly path: string;
  /** The link to make first, and where it leads. */
  readonly link?: readonly [name: string, target: string];
}

/** Tries to leave a root of its own by paths and links, for reading and for writing. */
export async function proveFence(backend: Backend): Promise<Finding[]> {
  using temporary = new TemporaryFolder();
  const [inside, outside] = [temporary.folder('inside'), temporary.folder('outside')];
  fs.writeFileSync(path.join(outside, 'secret'), SECRET);
  fs.writeFileSync(path.join(inside, 'own'), 'own');
  using root = Root.open('doctor', inside, backend);
  const findings: Finding[] = [provesReading(root)];
  for (const way of escapesTo(outside)) findings.push(await tryEscape(way, { root, inside, outside }));
  return findings;
}

function escapesTo(outside: string): Escape[] {
  const escapes: Escape[] = [
    { name: 'a path with ..', path: '../outside/secret' },
    { name: 'a path with .. behind a folder', path: 'own/../../outside/secret' },
    { name: 'an absolute path', path: path.join(outside, 'secret') },
    { name: 'a link that leads out', path: 'relative', link: ['relative', '../outside/secret'] },
    { name: 'an absolute link that leads out', path: 'absolute', link: ['absolute', path.join(outside, 'secret')] },
    { name: 'a linked folder', path: 'folder/secret', link: ['folder', '../outside'] },
    { name: 'a link to a file that is not there yet', path: 'dangling', link: ['dangling', '../outside/new'] },
  ];
  if (process.platform !== 'linux') return escapes;
  const magic = `/proc/self/root${path.join(outside, 'secret')}`;
  return [
    ...escapes,
    { name: 'a magic link of /proc', path: 'magic', link: ['magic', magic] },
    {
      name: 'a magic link as a folder',
      path: `proc${path.join(outside, 'secret')}`,
      link: ['proc', '/proc/self/root'],
    },
  ];
}

function provesReading(root: Root): Finding {
  using file = root.openFile(root.parse('own'));
  return file.size === 3 ? ok('a file inside', 'can be read') : failed('a file inside', 'is not what was written');
}

async function tryEscape(
  { name, path: written, link }: Escape,
  { root, inside, outside }: { readonly root: Root; readonly inside: string; readonly outside: string },
): Promise<Finding> {
  try {
    if (link !== undefined) fs.symlinkSync(link[1], path.join(inside, link[0]));
  } catch {
    return info(name, 'not tried: this user cannot make links here');
  }
  const read = await attempt(() => root.openFile(root.parse(written))[Symbol.dispose]());
  const bytes = Buffer.from('escaped');
  const write = await attempt(() => writeFile(root, root.parse(written), bytes, { makeParents: false }));
  const isUntouched =
    fs.readdirSync(outside).join() === 'secret' && fs.readFileSync(path.join(outside, 'secret'), 'utf8') === SECRET;
  if (!isUntouched) return failed(name, 'changed a file outside of the root');
  if (read === 'done') return failed(name, 'opened a file outside of the root');
  return ok(name, `does not lead out: reading ${read}, writing ${write}`);
}

async function attempt(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    if (error instanceof RingfenceError) return error.code.replaceAll('_', ' ');
    throw error;
  }
}
