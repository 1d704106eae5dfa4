import fs from 'node:fs';
import path from 'node:path';
import type { StormAnswer } from './storm-client.ts';

interface CountOptions {
  readonly started: number;
  /** The name of the replica that is killed. */
  readonly killed: string;
  /** How long after its death its calls may fail. */
  readonly withinMs: number;
  /** An error that is right. */
  readonly allowed?: string | undefined;
}

/** Counts the calls of a storm, and knows what files have to hold in the end. */
export class StormTally {
  calls = 0;
  inFlight = 0;
  sessionsLost = 0;
  longestMs = 0;
  readonly #started = performance.now();
  killedAt = Number.POSITIVE_INFINITY;
  /** Failures that nobody should have seen. */
  readonly errors: string[] = [];
  readonly lost: string[] = [];
  readonly doubled: string[] = [];
  confirmed = 0;
  /** The line of each client in an edited file, by what it was before. */
  readonly #lines = new Map<string, Map<string, string>>();
  readonly #appended = new Map<string, Map<string, 'certain' | 'possible'>>();
  readonly #contents = new Map<string, string[]>();

  count(tool: string, answer: StormAnswer, { started, killed, withinMs, allowed }: CountOptions): void {
    this.calls += 1;
    const now = performance.now();
    this.longestMs = Math.max(this.longestMs, now - started);
    if (answer.ok || (allowed !== undefined && answer.body.includes(allowed))) return;
    if (answer.status === 404) this.sessionsLost += 1;
    // The balancer closes the connection of an answer that has begun, and cannot say whose it was.
    const ofKilled = answer.status === 0 || (answer.server === killed && answer.status >= 500);
    if (ofKilled && started < this.killedAt + 50 && now < this.killedAt + withinMs) this.inFlight += 1;
    else {
      const at = `${((started - this.#started) / 1000).toFixed(1)}–${((now - this.#started) / 1000).toFixed(1)} s`;
      this.errors.push(`${at}: ${tool} ${answer.status} by ${answer.server}: ${answer.body.slice(0, 300)}`);
    }
  }

  expectLine(file: string, line: string, before: string): void {
    const lines = this.#lines.get(file) ?? new Map<string, string>();
    this.#lines.set(file, lines);
    lines.delete(before);
    lines.set(line, line);
    this.confirmed += 1;
  }

  expectAppended(file: string, line: string): void {
    this.#appendedTo(file).set(line, 'certain');
    this.confirmed += 1;
  }

  mayHaveAppended(file: string, line: string): void {
    this.#appendedTo(file).set(line, 'possible');
  }

  expectContent(file: string, content: string): void {
    this.#contents.set(file, [content]);
    this.confirmed += 1;
  }

  mayHaveContent(file: string, content: string): void {
    this.#contents.set(file, [...(this.#contents.get(file) ?? ['']), content]);
  }

  /** Compares the files below a folder with what was confirmed to clients. */
  check(top: string): void {
    const read = (file: string): string => {
      const host = path.join(top, file);
      return fs.existsSync(host) ? fs.readFileSync(host).toString('latin1') : '';
    };
    for (const [file, lines] of this.#lines) {
      const text = read(file);
      for (const line of lines.keys()) if (!text.includes(line)) this.lost.push(`${file}: ${line.trim()} in ${text}`);
    }
    for (const [file, lines] of this.#appended) {
      const found = read(file).split('\n');
      for (const [line, state] of lines) {
        const times = found.filter((each) => each === line).length;
        if (times === 0 && state === 'certain') this.lost.push(`${file}: ${line}`);
        if (times > 1) this.doubled.push(`${file}: ${line} ${times} times`);
      }
    }
    for (const [file, contents] of this.#contents) {
      const text = read(file);
      if (!contents.includes(text)) this.lost.push(`${file}: ${JSON.stringify(text)}, not ${contents.join(' or ')}`);
    }
  }

  #appendedTo(file: string): Map<string, 'certain' | 'possible'> {
    const lines = this.#appended.get(file) ?? new Map<string, 'certain' | 'possible'>();
    this.#appended.set(file, lines);
    return lines;
  }
}
