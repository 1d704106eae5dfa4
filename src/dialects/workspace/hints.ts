import { RingfenceError } from '../../errors.ts';
import type { CallerPath, Root } from '../../fence/index.ts';
import { peekFolder } from '../../files/list/peek-folder.ts';
import { printable } from '../../runtime/printable.ts';
import type { FailedCall } from '../../tools/dialect.ts';
import type { CallError } from '../../tools/errors.ts';
import { closest } from '../../tools/nearest.ts';
import type { NamedLocalRoot } from '../../tools/roots.ts';

/** How many entries of a folder are compared with a missing name. */
const MAX_ENTRIES = 5_000;
/** How many characters their names may have together. */
const MAX_COMPARED = 100_000;
const MAX_SUGGESTIONS = 3;

/**
 * Returns what to write instead, to be appended to an error text; empty if there is nothing to suggest. Shows names of
 * files only where the root allows `list_folder`, and never a host path.
 */
export function hintFor(error: CallError, { roots }: FailedCall, rootName: string | undefined): string {
  if (roots === undefined || rootName === undefined) return '';
  const local = roots.all().filter((each): each is NamedLocalRoot => each.kind !== 'agent');
  if (error.code === 'unknown_root') return hostPathHint(rootName, local);
  const { path } = error;
  if (error.code !== 'not_found' || path === undefined) return '';
  const fromHost = hostPathHint(path, local);
  const found = local.find(({ root }) => root.name === rootName);
  if (fromHost !== '' || found === undefined) return fromHost;
  try {
    const parsed = found.root.parse(path);
    return (
      rootPrefixHint(found.root, parsed) || (found.allowed.has('list_folder') ? neighbours(found.root, parsed) : '')
    );
  } catch (thrown) {
    if (thrown instanceof RingfenceError) return '';
    throw thrown;
  }
}

/** For an absolute path of this machine: the root and the path in it that were probably meant. */
function hostPathHint(written: string, roots: readonly NamedLocalRoot[]): string {
  for (const { root } of roots) {
    const path = root.fromHostPath(written);
    if (path !== undefined) return `; paths are relative to a root: write root ${root.name}, path ${printable(path)}`;
  }
  return '';
}

/** For a path that begins with the name of its own root, where the root has no such folder. */
function rootPrefixHint(root: Root, { raw, segments: [first, ...rest] }: CallerPath): string {
  if (first !== root.name) return '';
  using found = root.locate({ raw, segments: [first] }, { follow: false });
  if (found.stats !== undefined) return '';
  return `; paths are relative to the root: write ${printable(rest.join('/') || '.')}`;
}

/** The entries whose names come closest to the first name of the path that does not exist. */
function neighbours(root: Root, { raw, segments }: CallerPath): string {
  const { depth, names } = deepestFolder(root, { raw, segments });
  const missing = segments[depth];
  if (missing === undefined) return '';
  const above = segments.slice(0, depth);
  const rest = segments.slice(depth + 1);
  const similar = similarNames(missing, names);
  // Where the misspelt name is that of a folder, the whole path is more useful, if it leads somewhere.
  const paths = similar.map((name) => {
    const whole = [...above, name, ...rest];
    return (rest.length === 0 || exists(root, whole) ? whole : [...above, name]).join('/');
  });
  return paths.length === 0 ? '' : `; did you mean ${paths.map(printable).join(', ')}?`;
}

/** Returns the entries of the deepest folder on the path that can be listed, and how many names lead to it. */
function deepestFolder(root: Root, { raw, segments }: CallerPath): { depth: number; names: string[] } {
  for (let depth = segments.length - 1; depth >= 0; depth -= 1) {
    try {
      const entries = peekFolder(root, { raw, segments: segments.slice(0, depth) }, MAX_ENTRIES);
      return { depth, names: entries.map(({ name }) => name) };
    } catch (thrown) {
      if (!(thrown instanceof RingfenceError)) throw thrown;
    }
  }
  return { depth: segments.length, names: [] };
}

/** Returns the names that differ by few letters, then those that differ only after their last dot. */
function similarNames(missing: string, names: readonly string[]): string[] {
  const others = firstNames(names).filter((name) => name !== missing);
  // Of a name as short as "dir", one letter more makes another name, not a misspelling.
  const maxEdits = missing.length < 4 ? 0 : Math.min(4, Math.max(2, Math.floor(missing.length / 4)));
  const near = closest(missing, others, { maxEdits, count: MAX_SUGGESTIONS });
  const stem = stemOf(missing);
  const sameStem = others.filter((name) => stemOf(name) === stem).sort();
  return [...new Set([...near, ...sameStem])].slice(0, MAX_SUGGESTIONS);
}

/** Returns the first names, as many as can be compared in a few milliseconds. */
function firstNames(names: readonly string[]): readonly string[] {
  let length = 0;
  const end = names.findIndex((name) => {
    length += name.length;
    return length > MAX_COMPARED;
  });
  return end === -1 ? names : names.slice(0, end);
}

function stemOf(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, '').toLowerCase();
}

function exists(root: Root, segments: readonly string[]): boolean {
  try {
    using found = root.locate({ raw: '', segments }, { follow: true });
    return found.stats !== undefined;
  } catch (thrown) {
    if (thrown instanceof RingfenceError) return false;
    throw thrown;
  }
}
