/**
 * The permissions on a root: the names that an operator lists in `allowed_tools`. Each tool of each dialect declares
 * which it needs.
 */
export const CAPABILITIES = [
  'list_folder',
  'read_file',
  'read_files',
  'write_file',
  'remove_file',
  'patch_file',
  'create_folder',
  'remove_folder',
  'stat_file',
  'hash_file',
  'permissions_file',
  'copy',
  'move',
  'grep',
  'glob',
  'edit_file',
  'list_changes',
  'undo_change',
] as const;

/** The capabilities that change files. `copy` does so in its destination alone, which `requireWritable` checks. */
export const CHANGING_CAPABILITIES: readonly Capability[] = [
  'write_file',
  'remove_file',
  'patch_file',
  'create_folder',
  'remove_folder',
  'move',
  'edit_file',
  'undo_change',
];

/** The capabilities that an operator can list in `confirm`: those by which a call changes a root. */
export const CONFIRMABLE_CAPABILITIES: readonly Capability[] = [...CHANGING_CAPABILITIES, 'copy'];

/** The capabilities that only a root with history can allow. */
export const HISTORY_CAPABILITIES: readonly Capability[] = ['list_changes', 'undo_change'];

/** The capabilities that read the files of a root and nothing else: a root that allows no others is never changed. */
export const READING_CAPABILITIES: readonly Capability[] = CAPABILITIES.filter(
  (capability) => !CONFIRMABLE_CAPABILITIES.includes(capability) && !HISTORY_CAPABILITIES.includes(capability),
);

/** The capabilities that a root of client-side files can allow. For such a root, "*" stands for all of these. */
export const AGENT_CAPABILITIES = ['list_folder', 'read_file', 'stat_file', 'hash_file', 'copy'] as const;

/** A permission on a root. */
export type Capability = (typeof CAPABILITIES)[number];

/** Reports whether everything is allowed that a root can allow. Without a history, that is all but what needs one. */
export function allowsAll(allowed: readonly Capability[]): boolean {
  const withHistory = HISTORY_CAPABILITIES.some((tool) => allowed.includes(tool));
  return CAPABILITIES.every((tool) => allowed.includes(tool) || (!withHistory && HISTORY_CAPABILITIES.includes(tool)));
}
