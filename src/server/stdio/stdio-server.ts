import { processPeer } from '../call/peer.ts';
import type { Service, SharedService } from '../call/service.ts';
import type { ToolCaller } from '../call/tool-caller.ts';
import type { ServerDescription } from '../description/server-description.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import type { ServeSdk } from './sdk-transport.ts';
import { StdioConnection } from './stdio-connection.ts';
import { StdioTransport } from './stdio-transport.ts';

/** How long calls may go on after the client closed its end, so that the requests of a script are still answered. */
const AFTER_INPUT_MS = 5_000;
/** Time to write the last responses: a client that keeps its end open but does not read must not keep the process alive. */
const LAST_RESPONSES_MS = 5_000;

export interface StdioServing {
  /** Resolves when the client has gone: its input ended, or nobody reads the output. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

export interface StdioOptions {
  readonly description: ServerDescription;
  readonly shared: SharedService;
  /** Loads what calls need. Called when the first of them comes, so that a client does not wait for it before. */
  load(): Promise<Service>;
}

/** Speaks the protocol on this process's stdin and stdout, in either era. Nothing else may write to stdout. */
export function startStdio({ description, shared, load }: StdioOptions): StdioServing {
  const { stdin, stdout } = process;
  const { logger, running, roots, scheduler } = shared;
  const onerror = (error: Error): void => logger.debug({ problem: error.name }, 'protocol error');
  const loading = new ToolLoading(load);
  /** Resolves when the SDK is loaded, if a message needed it. */
  let sdkLoaded: Promise<unknown> = Promise.resolve();
  const serveSdk: ServeSdk = (transport) => {
    const serving = (async () => {
      const [{ serveSdk: serve }, { service, caller }] = await Promise.all([import('./serve-sdk.ts'), loading.tools()]);
      return serve(service, { caller, transport, onerror });
    })();
    sdkLoaded = serving;
    return serving;
  };

  const transport = new StdioTransport({ input: stdin, output: stdout, admit: () => scheduler.admit() });
  const connection = new StdioConnection({
    fastPath: new FastPath({ description, running, load: async () => (await loading.tools()).caller }),
    peer: processPeer(roots),
    sink: transport,
    serveSdk,
  });
  transport.onmessage = (message) => connection.receive(message);
  transport.onerror = onerror;
  void transport.start();

  const gone = new Promise<void>((resolve) => {
    const inputEnded = async (): Promise<void> => {
      do await nextTurn();
      while (transport.isBehind);
      await Promise.allSettled([sdkLoaded]);
      await nextTurn();
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
        timer = setTimeout(resolve, LAST_RESPONSES_MS);
      });
      await Promise.race([connection.close(), late]);
      clearTimeout(timer);
    },
  };
}

/** The service of the connection and the caller of its tools, loaded once. */
class ToolLoading {
  readonly #load: () => Promise<Service>;
  #tools: Promise<{ service: Service; caller: ToolCaller }> | undefined;

  constructor(load: () => Promise<Service>) {
    this.#load = load;
  }

  tools(): Promise<{ service: Service; caller: ToolCaller }> {
    this.#tools ??= Promise.all([import('../call/tool-caller.ts'), this.#load()]).then(([{ ToolCaller }, service]) => ({
      service,
      caller: new ToolCaller(service),
    }));
    return this.#tools;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
