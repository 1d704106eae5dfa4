/**
 * The names of the tools by which a client's model hands files over. They belong to the bridge, because its questions
 * and error messages name them; a dialect that offers the tools takes their names from here.
 */
export const HANDOVER_TOOLS = {
  cacheFile: 'guide_cache_file',
  listDirectory: 'guide_list_directory',
  readFile: 'guide_read_file',
} as const;
