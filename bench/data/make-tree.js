import fs from 'node:fs';
import path from 'node:path';
import { NEEDLES } from '../needles.js';
import { Random } from './random.js';
import { needleLines, passages, word } from './text.js';

const EXTENSIONS = 'ts js js js json json md py py go go java java c h h css html txt yaml'.split(' ');
const FILES_PER_FOLDER = 12;
const MAX_DEPTH = 8;
const MEDIAN_BYTES = 3_000;
const SPREAD = 1.55;
/** With this spread the mean is 3.3 times the median. */
export const BYTES_PER_FILE = 10_000;
const MAX_BYTES = 4_000_000;
const BINARY_SHARE = 0.02;
/** Seldom, but each a few times in however small a tree. */
const BYTES_PER_NEEDLE = 100_000;
const NEEDLES_AT_LEAST = 5 * NEEDLES.length;

/** Makes a tree of source-like files below `top`, which must exist. Returns how many bytes it holds. */
export function makeTree(top, { files }) {
  const random = new Random(files);
  const pool = passages(random, 4_000);
  const folders = makeFolders(top, random, Math.ceil(files / FILES_PER_FOLDER));
  const needle = needleLines(random);
  const bytesPerNeedle = Math.min(BYTES_PER_NEEDLE, (files * BYTES_PER_FILE) / NEEDLES_AT_LEAST);
  const source = (size) => sourceText({ random, pool, size, needle, bytesPerNeedle });
  let bytes = 0;
  for (let index = 0; index < files; index++) {
    const size = Math.min(MAX_BYTES, Math.max(20, Math.round(random.logNormal(MEDIAN_BYTES, SPREAD))));
    const isBinary = random.chance(BINARY_SHARE);
    const name = `${word(random)}-${word(random)}-${index}.${isBinary ? 'bin' : random.pick(EXTENSIONS)}`;
    const content = isBinary ? noise(random, size) : source(size);
    fs.writeFileSync(path.join(random.pick(folders), name), content);
    bytes += content.length;
  }
  return bytes;
}

function makeFolders(top, random, count) {
  const folders = [{ folder: top, depth: 0 }];
  for (let index = 0; index < count; index++) {
    const parent = random.pick(folders);
    if (parent.depth >= MAX_DEPTH) continue;
    const folder = path.join(parent.folder, `${random.chance(0.03) ? '.' : ''}${word(random)}${index}`);
    fs.mkdirSync(folder);
    folders.push({ folder, depth: parent.depth + 1 });
  }
  return folders.map(({ folder }) => folder);
}

/** Text that ends at a passage's end once `size` is reached. */
function sourceText({ random, pool, size, needle, bytesPerNeedle }) {
  const parts = [];
  for (let length = 0; length < size; ) {
    const passage = random.pick(pool);
    parts.push(passage);
    length += passage.length;
    if (random.chance(passage.length / bytesPerNeedle)) parts.push(needle());
  }
  return Buffer.concat(parts);
}

/** Bytes that start with a NUL, so that every search tool takes them for binary at once. */
function noise(random, size) {
  const bytes = Buffer.alloc(size);
  for (let at = 4; at + 4 <= size; at += 4) bytes.writeUInt32LE(random.below(2 ** 32), at);
  return bytes;
}
