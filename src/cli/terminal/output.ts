import { escapeUnprintable } from '../../runtime/printable.ts';
import { type Paint, paintFor, type Style } from './colours.ts';

/** Prints results on stdout. Ends the process quietly once nobody reads them any more. */
export class Output {
  /** Whether a person reads it on a terminal. */
  readonly isTerminal = process.stdout.isTTY === true;
  readonly #paint: Paint;

  constructor(env: NodeJS.ProcessEnv = process.env) {
    this.#paint = paintFor(process.stdout, env);
    process.stdout.on('error', () => process.exit(0));
  }

  /** Prints a line. */
  line(text = ''): void {
    process.stdout.write(`${text}\n`);
  }

  /** Prints bytes as they are. For content that goes to a program: see `safe` for a terminal. */
  bytes(bytes: Uint8Array): void {
    process.stdout.write(bytes);
  }

  /** Prints a value as JSON. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, null, 2));
  }

  /** Returns a text with colour codes, if the terminal shows colours. */
  style(style: Style, text: string): string {
    return this.#paint(style, text);
  }

  /** Resolves once everything is written. */
  flushed(): Promise<void> {
    return new Promise((resolve) => process.stdout.write('', () => resolve()));
  }
}

/** Prints a line on stderr: what a person has to know, beside the result. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Returns a line of a file with what a terminal would act on replaced, except for tabs. */
export function safeLine(line: string): string {
  return line.split('\t').map(escapeUnprintable).join('\t');
}
