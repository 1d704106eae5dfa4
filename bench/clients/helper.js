import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * A script in a process of its own, so that what it does takes no time from whoever measures. It answers each request
 * with one message, `{ value }` or `{ error }`.
 */
export class Helper {
  #child;
  #answered = () => {};

  constructor(script) {
    this.#child = fork(script, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const end = () => this.#child.kill('SIGKILL');
    process.once('exit', end);
    this.#child.on('message', (answer) => this.#answered(answer));
    this.#child.once('exit', () => {
      process.off('exit', end);
      this.#answered({ error: 'a helper process ended' });
    });
  }

  /** One request at a time. */
  async ask(request) {
    const answer = new Promise((resolve) => {
      this.#answered = resolve;
    });
    this.#child.send(request);
    const { value, error } = await answer;
    if (error !== undefined) throw new Error(error);
    return value;
  }

  async close() {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

/** The other side: answers each request with what the function makes of it. Ends when nobody asks any more. */
export function answerRequests(work) {
  process.on('message', async (request) => {
    try {
      process.send({ value: await work(request) });
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
  process.once('disconnect', () => process.exit());
}
