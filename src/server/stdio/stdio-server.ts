import { processPeer } from '../call/peer.ts';
import type { Service, SharedService } from '../call/service.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import type { ServerDescription } from '../protocol/server-description.ts';
import type { ServeSdk } from './sdk-transport.ts';
import { StdioConnection } from './stdio-connection.ts';
import { StdioTransport } from './stdio-transport.ts';

/** How long calls may go on after the client closed its end, so that a script's piped requests are still answered. */
const AFTER_INPUT_MS = 5_000;
/** Time to hand out the last answers: a client that keeps its end open but reads no more must not keep us from ending. */
const LAST_ANSWERS_MS = 5_000;

export interface StdioServing {
  /** Resolves when the client has gone: its input ended, or nobody reads our output. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

export interface StdioOptions {
  readonly description: ServerDescription;
  readonly shared: SharedService;
  /** Makes what calls need. It is asked when that time comes, so that a client need not wait for it before. */
  load(): Promise<Service>;
}

/** Speaks the protocol on this process's stdin and stdout, in either era. Nothing else may write to stdout. */
export function startStdio({ description, shared, load }: StdioOptions): StdioServing {
  const { stdin, stdout } = process;
  const { logger, running } = shared;
  const onerror = (error: Error): void => logger.debug({ problem: error.name }, 'protocol error');
  let service: Promise<Service> | undefined;
  const loaded = (): Promise<Service> => {
    service ??= load();
    return service;
  };
  /** What is being loaded because a request needs it. */
  const starting: Promise<unknown>[] = [];
  const started = <T>(start: () => Promise<T>): Promise<T> => {
    const promise = start();
    starting.push(promise);
    return promise;
  };
  const loadTools = () =>
    started(async () => {
      const [{ fastTools: laneTools }, spoken] = await Promise.all([
        import('../protocol/fast/lane-tools.ts'),
        loaded(),
      ]);
      return laneTools(spoken);
    });
  const serveSdk: ServeSdk = (transport) =>
    started(async () => {
      const [{ serveSdk: serveSdkStdio }, spoken] = await Promise.all([import('./serve-sdk.ts'), loaded()]);
      return serveSdkStdio(spoken, { description, transport, onerror });
    });

  const transport = new StdioTransport(stdin, stdout);
  const connection = new StdioConnection({
    fastPath: new FastPath(description, loadTools),
    peer: processPeer(shared.roots),
    sink: transport,
    serveSdk,
  });
  transport.onmessage = (message) => connection.receive(message);
  transport.onerror = onerror;
  transport.start();

  const gone = new Promise<void>((resolve) => {
    const inputEnded = async (): Promise<void> => {
      do await nextTurn();
      while (transport.behind);
      for (let waited = 0; waited < starting.length; await nextTurn()) {
        waited = starting.length;
        await Promise.allSettled(starting);
      }
      await running.drain(AFTER_INPUT_MS);
      resolve();
    };
    stdin.once('end', inputEnded);
    stdin.once('close', inputEnded);
    stdin.once('error', () => resolve());
    stdout.on('error', () => resolve());
    void transport.closed.then(resolve);
  });
  return {
    gone,
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, LAST_ANSWERS_MS);
      });
      await Promise.race([connection.close(), late]);
      clearTimeout(timer);
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
