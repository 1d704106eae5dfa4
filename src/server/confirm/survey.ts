import {
  checkTree,
  FenceError,
  isFenceError,
  type Location,
  type Refusal,
  type RootPath,
  withLocation,
} from '../../fence/index.ts';
import { awaitLatest } from '../../files/lease/await-latest.ts';
import { measureTree, type TreeSize } from '../../files/list/measure-tree.ts';
import { versionOf } from '../../files/version.ts';
import { ABSENT } from '../../files/write/if-match.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { escapeUnprintable, shorten } from '../../runtime/printable.ts';
import type { ChangeKind, IntendedChange } from '../../tools/intended-change.ts';
import { formatSize } from '../../wire/format-size.ts';

/** How many characters of a path a question shows. */
const SHOWN = 500;

/** What a change would do to what is there now. */
export interface Survey {
  /** The version that the entry must still have, or `absent`; undefined if there is no such condition. */
  readonly version: string | undefined;
  /** Differs if anything that the sentence is about has changed, a folder's content included. */
  readonly state: string;
  /** Says what would happen, and what would be lost; undefined for a change that cannot be made to what is there. */
  readonly sentence: string | undefined;
}

/**
 * Finds out what a change would do to what is there now, and changes nothing. Of a folder, it counts at most
 * `maxEntries` entries. Raises `not_allowed` for what the rules of the root forbid, and what `Root.locate` raises.
 * Whether the operating system permits the change is not checked.
 */
export async function survey(change: IntendedChange, maxEntries: number, context: OperationContext): Promise<Survey> {
  const { root, path, kind } = change;
  if (TO_ITSELF.has(kind) && path.segments.length === 0) return { version: undefined, state: '', sentence: undefined };
  return withLocation(root, path, async () => {
    await awaitLatest(root, path, { signal: context.signal, follow: followsLink(change) });
    using found = locate(change);
    const stats = found?.stats;
    const isFolder = stats?.isDirectory() ?? false;
    refuse(refusalOf(change, found));
    if (found === undefined || stats === undefined) {
      const sentence = NEEDS_ENTRY.has(kind) ? undefined : onNothing(change);
      return { version: ABSENT, state: ABSENT, sentence };
    }
    const version = versionOf(stats);
    const isWrongType = change.only !== undefined && (change.only === 'folder') !== isFolder;
    if (kind === 'create' || isWrongType) return { version, state: version, sentence: undefined };
    if (!isFolder) {
      const what = stats.isSymbolicLink() ? 'link' : `file (${formatSize(stats.size)})`;
      return { version, state: version, sentence: onFile(change, what) };
    }
    if (TO_ITSELF.has(kind)) await assertMayGo(found, change, context);
    using dir = found.dir.openDir(found.name);
    const size = await measureTree(dir, maxEntries, context);
    // What is put into a folder changes its version, so that is no condition for a copy into it.
    const condition = TO_ITSELF.has(kind) ? version : undefined;
    return { version: condition, state: version + size.version, sentence: onFolder(change, size) };
  });
}

/** Quotes a path for a question, and names its root. */
export function named({ root, path }: { root: { readonly name: string }; path: { readonly raw: string } }): string {
  return `${escapeUnprintable(JSON.stringify(shorten(path.raw, SHOWN)))} (root: ${root.name})`;
}

/** The changes to an entry itself, even if it is a link. */
const TO_ITSELF: ReadonlySet<ChangeKind> = new Set(['remove', 'move']);
/** The changes that can only be made to something that is there. */
const NEEDS_ENTRY: ReadonlySet<ChangeKind> = new Set(['remove', 'move', 'edit']);

/** Reports whether a change is made to what a link leads to. */
function followsLink({ follow = true, kind }: IntendedChange): boolean {
  return follow && !TO_ITSELF.has(kind);
}

/** Returns where the changed entry is; undefined if a folder above it is missing. */
function locate(change: IntendedChange): Location | undefined {
  const { root, path } = change;
  try {
    return root.locate(path, { follow: followsLink(change) });
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
    return undefined;
  }
}

function refusalOf({ root, path, kind }: IntendedChange, found: Location | undefined): Refusal | undefined {
  if (found?.stats === undefined && NEEDS_ENTRY.has(kind)) return undefined;
  if (found === undefined) return root.explain(path) ?? refusalAbove({ root, path });
  const put = !TO_ITSELF.has(kind);
  return found.dir.refusal(found.name, found.stats ? { isFolder: found.stats.isDirectory(), put } : { put });
}

/** Returns which rule keeps the folders above an entry from being made, wherever links lead. */
function refusalAbove({ root, path: { raw, segments } }: RootPath): Refusal | undefined {
  for (let depth = segments.length - 1; depth > 0; depth -= 1) {
    try {
      using found = root.locate({ raw, segments: segments.slice(0, depth) }, { follow: true });
      return found.dir.refusal(found.name, { isFolder: true, put: true });
    } catch (error) {
      if (!isFenceError(error, 'not_found')) throw error;
    }
  }
  return undefined;
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw new FenceError('not_allowed', refusal);
}

/** Raises `not_allowed` if a folder holds something that must not be removed or moved. */
async function assertMayGo({ dir, name }: Location, from: RootPath, context: OperationContext): Promise<void> {
  using _checked = await checkTree({ dir, name }, { from, pause: yieldPoint(context) });
}

function onNothing(change: IntendedChange): string {
  return `${copied(change)}nothing is there now, so nothing would be lost`;
}

function copied({ copyOf }: IntendedChange): string {
  return copyOf === undefined ? '' : `a copy of ${named(copyOf)} would be put there; `;
}

function onFile(change: IntendedChange, what: string): string {
  switch (change.kind) {
    case 'remove':
      return `the ${what} would be deleted`;
    case 'move':
      return `the ${what} would be moved away`;
    case 'edit':
    case 'patch':
      return `a part of the ${what} would be changed`;
    case 'append':
      return `the ${what} would be added to, and nothing would be lost`;
    default:
      return `${copied(change)}the ${what} there now would be replaced and lost`;
  }
}

function onFolder(change: IntendedChange, { files, bytes, isComplete }: TreeSize): string {
  const more = isComplete ? '' : 'more than ';
  const content = `${more}${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'} (${more}${formatSize(bytes)})`;
  switch (change.kind) {
    case 'remove':
      return `the folder would be deleted, with ${content} in it`;
    case 'move':
      return `the folder would be moved away, with ${content} in it`;
    default:
      return change.copyOf === undefined
        ? 'the folder there now would be replaced if it is empty'
        : `${copied(change)}the folder there now holds ${content}, of which those with the same names would be replaced and lost`;
  }
}
