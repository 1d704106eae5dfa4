/** What may be done in a root: the names an operator lists in `allowed_tools`. Tools of every dialect declare which they need. */
export const CAPABILITIES = [
  'list_folder',
  'read_file',
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
] as const;

/** What may be done with files that are on the client's side. "*" means these there. */
export const AGENT_CAPABILITIES = ['list_folder', 'read_file', 'stat_file', 'hash_file', 'copy'] as const;

export type Capability = (typeof CAPABILITIES)[number];
