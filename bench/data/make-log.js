import fs from 'node:fs';
import { NEEDLES } from '../needles.js';
import { Random } from './random.js';
import { logMessages, needleLines } from './text.js';

const FLUSH_BYTES = 1_000_000;
const LINES_PER_NEEDLE = 2_000;
const LINE_BYTES = 100;
const NEEDLES_AT_LEAST = 3 * NEEDLES.length;
const EPOCH = Date.UTC(2026, 0, 1);

/** Makes a log of about `bytes` in which every line says its own number. Returns its true size and its lines. */
export function makeLog(file, bytes) {
  const random = new Random(bytes);
  const messages = logMessages(random, 5_000);
  const output = fs.openSync(file, 'wx');
  const needle = needleLines(random);
  const linesPerNeedle = Math.min(LINES_PER_NEEDLE, Math.floor(bytes / LINE_BYTES / NEEDLES_AT_LEAST));
  let lines = 0;
  let written = 0;
  while (written < bytes) {
    let chunk = '';
    while (chunk.length < FLUSH_BYTES && written + chunk.length < bytes) {
      lines++;
      const message = lines % linesPerNeedle === 77 ? needle().toString() : random.pick(messages);
      chunk += `${new Date(EPOCH + lines * 37).toISOString()} line=${lines} ${message}`;
    }
    written += fs.writeSync(output, chunk);
  }
  fs.closeSync(output);
  return { bytes: written, lines };
}
