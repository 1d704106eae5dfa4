import type { Socket } from 'node:net';
import { ProcessChannel } from '../runtime/process-channel.ts';

/** What a worker does with its connections. */
interface Serving {
  /** What the parent should know of it. */
  readonly report: unknown;
  accept(socket: Socket): void;
  /** Says that it is not ready, and goes on. */
  drain(): void;
  /** Goes on with the connections that there are, and resolves once there are none. */
  retire(): Promise<void>;
  /** Finishes running calls within the grace time, and closes. */
  stop(): Promise<void>;
}

/** What a worker knows of its parent. */
interface ParentLink {
  /** The number of this worker. */
  readonly number: number;
  readonly channel: ProcessChannel;
}

/** Starts to serve with what the parent says. May throw: `refusal` words the error for the parent. */
interface WorkerHandlers<Start> {
  start(start: Start, link: ParentLink): Promise<Serving>;
  /** Returns what to tell a person if the error is one that another start would meet as well. */
  refusal(error: unknown): string | undefined;
}

/**
 * Serves the connections that the parent of this process hands over, until the parent says otherwise or is gone, then
 * ends the process. Call it once, in the module that a `WorkerProcess` runs.
 */
export function serveParentProcess<Start>({ start, refusal }: WorkerHandlers<Start>): void {
  const channel = new ProcessChannel(process);
  let serving: Serving | undefined;
  let isDraining = false;
  let ending: 'retire' | 'stop' | undefined;
  const end = async (how: 'retire' | 'stop'): Promise<void> => {
    // A worker that waits until its connections are gone may be told not to.
    if (ending === 'stop' || ending === how) return;
    ending = how;
    await serving?.[how]();
    process.exit(0);
  };
  channel.onNotice('start', ([number, told]) => {
    start(told as Start, { number: number as number, channel }).then(
      (started) => {
        serving = started;
        if (isDraining) serving.drain();
        channel.notify('serving', started.report);
      },
      async (error: unknown) => {
        const reason = refusal(error);
        if (reason === undefined) throw error;
        await channel.call('failed', reason).catch(() => {});
        process.exit(1);
      },
    );
  });
  channel.onNotice('connection', (_, socket) => {
    channel.notify('taken');
    // A connection that was closed on the way does not arrive.
    if (socket === undefined || serving === undefined) {
      socket?.destroy();
      channel.notify('closed');
      return;
    }
    socket.once('close', () => channel.notify('closed'));
    serving.accept(socket);
  });
  channel.onNotice('drain', () => {
    isDraining = true;
    serving?.drain();
  });
  channel.onNotice('retire', () => void end('retire'));
  channel.onNotice('stop', () => void end('stop'));
  process.once('disconnect', () => void end('stop'));
  // A terminal sends these to all processes at once. The parent decides what they mean.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
  // Somebody wants this process to end, or all of them, as systemd does. The parent says which, and when.
  process.on('SIGTERM', () => channel.notify('terminated'));
}
