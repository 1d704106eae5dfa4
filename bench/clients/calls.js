import { smallName } from '../data.js';
import { ROOT } from '../peers/ringfence.js';

/** Folders that the mixed calls use beside the small files. */
export const LISTED = 'folder';
const WRITTEN = 'written';
const WRITTEN_FILES = 50;

const path = (index) => smallName(index);

/** What agents ask for, by and large: mostly reads. */
const MIX = [
  (index) => ['read_file', { root: ROOT, path: path(index) }],
  (index) => ['stat_file', { root: ROOT, path: path(index) }],
  (index) => ['read_file', { root: ROOT, path: path(index), offset_lines: 5, limit_lines: 10 }],
  () => ['list_folder', { root: ROOT, path: LISTED }],
  (index) => ['hash_file', { root: ROOT, path: path(index), algorithm: 'sha256' }],
  (index) => ['write_file', { root: ROOT, path: `${WRITTEN}/${index % WRITTEN_FILES}.txt`, content: 'hello' }],
];

/** The `index`th call of a kind: the tool and its arguments. */
export const CALLS = {
  mixed: (index) => MIX[index % MIX.length](index),
  reads: (index) => MIX[0](index),
  writes: (index) => MIX[5](index),
  nothing: () => ['nothing', {}],
};
