import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { mcpServerFactory } from './mcp-server.ts';
import { processPeer } from './peer.ts';
import type { Service } from './service.ts';
import { StdioTransport } from './stdio-transport.ts';

/** How long calls may go on after the client closed its end, so that a script's piped requests are still answered. */
const AFTER_INPUT_MS = 1_000;
/** Time to hand out the last answers: a client that keeps its end open but reads no more must not keep us from ending. */
const LAST_ANSWERS_MS = 5_000;

export interface StdioServing {
  /** Resolves when the client has gone: its input ended, or nobody reads our output. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

/** Speaks the protocol on this process's stdin and stdout, in either era. Nothing else may write to stdout. */
export function startStdio(service: Service): StdioServing {
  const { stdin, stdout } = process;
  const transport = new StdioTransport(stdin, stdout);
  const newServer = mcpServerFactory(service);
  const peer = processPeer(service.roots);
  const handle = serveStdio(() => newServer(peer), {
    transport,
    onerror: (error) => service.logger.debug({ problem: error.name }, 'protocol error'),
  });
  const gone = new Promise<void>((resolve) => {
    const inputEnded = async (): Promise<void> => {
      await new Promise((settled) => setImmediate(settled));
      await service.running.drain(AFTER_INPUT_MS);
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
      await Promise.race([handle.close(), late]);
      clearTimeout(timer);
    },
  };
}
