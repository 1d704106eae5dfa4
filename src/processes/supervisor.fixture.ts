import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { tempDir } from '../../tests/support/temp-dir.ts';
import { compiledFile } from '../runtime/compiled-file.ts';

/** What a worker of a test is told first. */
export interface TestStart {
  /** What it reports. */
  readonly config: string;
  /** Workers with one of these numbers end before they serve. */
  readonly failing?: readonly number[];
  /** Workers with one of these numbers say why they cannot serve. */
  readonly refusing?: readonly number[];
  /** Workers with one of these numbers never say anything. */
  readonly hanging?: readonly number[];
  /** Workers with one of these numbers do not end when they are told to. */
  readonly staying?: readonly number[];
  /** How long they take to start. */
  readonly startMs?: number;
}

/** Writes a module that workers of a test run, which serve nothing. */
export function workerModule(): URL {
  const entry = path.join(tempDir('ringfence-supervisor-'), 'worker.mjs');
  const serveParentProcess = compiledFile(import.meta.url, './serve-parent-process.js').href;
  fs.writeFileSync(
    entry,
    `
import { setTimeout as later } from 'node:timers/promises';
import { serveParentProcess } from ${JSON.stringify(serveParentProcess)};
serveParentProcess({
  start: async ({ config, failing = [], refusing = [], hanging = [], staying = [], startMs = 0 }, { number }) => {
    await later(hanging.includes(number) ? 1e9 : startMs);
    if (failing.includes(number)) process.exit(3);
    if (refusing.includes(number)) throw new Error('refused');
    const nothing = async () => {};
    const drain = () => console.error('draining ' + number);
    const stop = () => later(staying.includes(number) ? 1e9 : 0);
    return { report: config, accept: (socket) => socket.destroy(), drain, retire: nothing, stop };
  },
  refusal: ({ message }) => message,
});
`,
  );
  return pathToFileURL(entry);
}
