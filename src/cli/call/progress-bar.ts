import type { Progress } from '../../client/mcp-client.ts';

/** A call that ends sooner shows no bar. */
const QUIET_MS = 300;
const WIDTH = 30;
const CLEAR_LINE = '\r\u001b[K';

/** Shows on stderr how far a call is, if that is a terminal. */
export class ProgressBar implements Disposable {
  readonly #title: string;
  readonly #isShown = process.stderr.isTTY === true && process.env.TERM !== 'dumb';
  #started: number | undefined;
  #isDrawn = false;

  constructor(title: string) {
    this.#title = title;
  }

  /** Draws the bar, or only a number if it is not known how much there is to do. */
  update({ progress, total }: Progress): void {
    this.#started ??= performance.now();
    if (!this.#isShown || performance.now() - this.#started < QUIET_MS) return;
    process.stderr.write(`${CLEAR_LINE}${this.#title}  ${barOf(progress, total)}`);
    this.#isDrawn = true;
  }

  /** Removes the bar until it is drawn again. */
  clear(): void {
    if (this.#isDrawn) process.stderr.write(CLEAR_LINE);
    this.#isDrawn = false;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

function barOf(progress: number, total: number | undefined): string {
  if (total === undefined || total <= 0) return progress.toLocaleString('en');
  const share = Math.min(1, progress / total);
  const filled = Math.round(share * WIDTH);
  const counts = `${progress.toLocaleString('en')}/${total.toLocaleString('en')}`;
  return `[${'#'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${Math.floor(share * 100)}%  ${counts}`;
}
