import type { History } from './history.ts';
import type { Step } from './log/step.ts';

/** How many steps there are about each path of a long history. */
export const STEPS_PER_FILE = 4;

/** What `fillHistory` writes. */
export interface LongHistory {
  /** How many steps, each with its mark. */
  readonly steps: number;
  /** The time of the first step; each later one is a millisecond later. */
  readonly start?: number;
}

/** The path of a step of a long history. Each path has some steps, one after another, in one of a thousand folders. */
export function pathOfStep(step: number): string {
  const file = Math.floor(step / STEPS_PER_FILE);
  return `folder-${file % 1000}/part-${file % 7}/file-${file}.txt`;
}

/** Writes steps that have happened to a log. Nothing is kept for them. */
export function fillHistory({ log }: Pick<History, 'log'>, { steps, start = Date.now() - steps }: LongHistory): void {
  for (let at = 0; at < steps; at += 1) {
    log.current();
    const step = stepAt(at, start);
    log.append(step);
    log.mark({ done: `${step.change}.0`, after: step.after, keptCtimeMs: step.time });
  }
  log.writeMarks();
}

function stepAt(at: number, start: number): Step {
  const time = start + at;
  const state = { type: 'file', ino: 1_000_000 + at, mode: 0o644, size: 1234, mtimeMs: time, ctimeMs: time } as const;
  return {
    change: time.toString(36) + (at % 1296).toString(36).padStart(4, '0'),
    number: 0,
    time,
    caller: { tool: 'write_file', client: 'a client', owner: 'stdio', call: `call-${at}` },
    process: '.ringfence-tmp-0123456789abu-12345-678901-0123456789ab',
    kind: 'put',
    path: pathOfStep(at),
    before: state,
    after: state,
  };
}
