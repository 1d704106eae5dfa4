import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describeThrown } from '../../audit/describe-thrown.ts';
import { importWhenLoadable, NotLoadableError } from '../../config/program/loadable-modules.ts';
import { atMost } from '../../runtime/at-most.ts';
import { type WarmUp, type WarmUpOptions, warmUpInBackground } from '../background/warm-up.ts';
import type { Service, SharedService } from '../call/service.ts';
import type { ToolCaller } from '../call/tool-caller.ts';
import { processPeer } from '../clients/peer.ts';
import type { ServerDescription } from '../description/server-description.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import type { MessageReceiver, ServeSdk } from './sdk-transport.ts';
import { StdioConnection } from './stdio-connection.ts';
import { StdioTransport } from './stdio-transport.ts';

/**
 * How long calls may run after the client closed stdin: a script that pipes in its requests still gets every response.
 */
const AFTER_INPUT_MS = 5_000;
/**
 * How long the last responses may take to be written: a client that does not read stdout must not keep the process
 * alive.
 */
const LAST_RESPONSES_MS = 5_000;
/** How often the tools are tried again for the SDK, to which messages cannot be refused. */
const LOAD_AGAIN_MS = 500;
/** The handshake counts as over when the client has sent nothing for so long. */
const QUIET_MS = 50;

/** A server that is running on stdio. */
export interface RunningStdioServer {
  /** Resolves when the client is gone: it closed stdin and its calls have ended, or it closed stdout. */
  readonly gone: Promise<void>;
  /** Writes the last responses, for at most five seconds, and closes the connection. */
  close(): Promise<void>;
}

/** Options of `startStdio`. */
export interface StdioOptions {
  readonly description: ServerDescription;
  readonly shared: SharedService;
  /** Loads what calls need. Called once, for the first call or after the handshake, which does not wait for it. */
  load(): Promise<Service>;
  /** What to read requests from and write responses to; by default stdin and stdout. */
  readonly streams?: { readonly input: Readable; readonly output: Writable };
}

/**
 * Serves MCP, in every supported revision, on this process's stdin and stdout, or other streams. Nothing else may write
 * to the output.
 */
export function startStdio({ description, shared, load, streams }: StdioOptions): RunningStdioServer {
  const { input: stdin, output: stdout } = streams ?? { input: process.stdin, output: process.stdout };
  const { logger, running, roots, rates, scheduler, resultForms } = shared;
  const onerror = (error: Error): void => logger.debug({ problem: error.name }, 'protocol error');
  const tools = new ToolLoader(load, logger);
  /** Settles when the SDK is loaded; settled from the start if no message has needed it. */
  let sdkLoaded: Promise<unknown> = Promise.resolve();
  const serveSdk: ServeSdk = (transport) => {
    const serving = (async () => {
      const [{ service, caller }, { serveSdk: serve }] = await tools.loadPatiently(() => import('./serve-sdk.ts'));
      return serve(service, { caller, transport, onerror });
    })();
    sdkLoaded = serving;
    return serving;
  };

  const transport = new StdioTransport({ input: stdin, output: stdout, scheduler });
  const connection = new StdioConnection({
    fastPath: new FastPath({ description, running, resultForms, load: async () => (await tools.load()).caller }),
    peer: processPeer(roots, rates),
    sink: transport,
    serveSdk,
  });
  const warmUp = new WarmUpAfterHandshake(connection, {
    load: async () => (await tools.load()).service,
    running,
  });
  transport.receiver = warmUp;
  transport.onerror = onerror;
  transport.start();

  const gone = new Promise<void>((resolve) => {
    const inputEnded = async (): Promise<void> => {
      warmUp.stop();
      tools.stop();
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
    transport.onclose = resolve;
    tools.onbroken = resolve;
  });
  return {
    gone,
    close: async () => {
      warmUp.stop();
      await atMost(LAST_RESPONSES_MS, connection.close());
    },
  };
}

interface LoadedTools {
  readonly service: Service;
  readonly caller: ToolCaller;
}

/**
 * Loads the service and the caller of its tools once, for the first call that needs them. If that is not possible at
 * the moment, the next call tries again.
 */
class ToolLoader {
  /** Called if the tools cannot be loaded any more: Node does not load a module again that failed once. */
  onbroken: () => void = () => {};
  readonly #load: () => Promise<Service>;
  readonly #logger: SharedService['logger'];
  #tools: Promise<LoadedTools> | undefined;
  #stopped = false;

  constructor(load: () => Promise<Service>, logger: SharedService['logger']) {
    this.#load = load;
    this.#logger = logger;
  }

  load(): Promise<LoadedTools> {
    this.#tools ??= this.#attempt(async () => {
      const [{ ToolCaller }, service] = await Promise.all([import('../call/tool-caller.ts'), this.#load()]);
      return { service, caller: new ToolCaller(service) };
    }).catch((error) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  /** Loads the tools, and more that a caller needs, as soon as that is possible. Gives up when `stop` is called. */
  async loadPatiently<T>(more: () => Promise<T>): Promise<[LoadedTools, T]> {
    for (;;) {
      try {
        return [await this.load(), await this.#attempt(more)];
      } catch (error) {
        if (this.#stopped || !(error instanceof NotLoadableError)) throw error;
      }
      await sleep(LOAD_AGAIN_MS);
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #attempt<T>(load: () => Promise<T>): Promise<T> {
    try {
      return await importWhenLoadable(load);
    } catch (error) {
      if (error instanceof NotLoadableError) {
        this.#logger.error({ problem: error.message }, 'the tools cannot be loaded yet, the next call tries again');
      } else {
        this.#logger.error({ error: describeThrown(error) }, 'the tools cannot be loaded, the server ends');
        process.exitCode = 1;
        this.onbroken();
      }
      throw error;
    }
  }
}

/** Passes messages on, and starts the warm-up once the client is quiet after its first messages. */
class WarmUpAfterHandshake implements MessageReceiver {
  readonly #receiver: MessageReceiver;
  readonly #options: WarmUpOptions;
  #quiet: NodeJS.Timeout | undefined;
  #warmUp: WarmUp | undefined;
  #stopped = false;

  constructor(receiver: MessageReceiver, options: WarmUpOptions) {
    this.#receiver = receiver;
    this.#options = options;
  }

  receive(message: JSONRPCMessage): void {
    if (this.#warmUp === undefined && !this.#stopped) {
      clearTimeout(this.#quiet);
      this.#quiet = setTimeout(() => this.#start(), QUIET_MS).unref();
    }
    this.#receiver.receive(message);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#quiet);
    this.#warmUp?.stop();
  }

  #start(): void {
    this.#warmUp = warmUpInBackground(this.#options);
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
