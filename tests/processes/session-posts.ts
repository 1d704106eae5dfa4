import http from 'node:http';
import type { TestServer } from '../support/start-server.ts';

interface Answer {
  readonly status: number;
  readonly session: string;
  readonly text: string;
}

/** How a message is posted. */
interface PostOptions {
  readonly method?: string;
  /** Keeps the connection; by default each message has one of its own, so that each may reach another process. */
  readonly agent?: http.Agent;
}

/** Posts a message of the 2025 era. */
export function post(
  { url }: TestServer,
  message: object,
  session?: string,
  { method = 'POST', agent }: PostOptions = {},
): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
    ...(session !== undefined && { 'mcp-session-id': session }),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent: agent ?? false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, session: String(response.headers['mcp-session-id']), text }),
      );
    });
    request.on('error', reject);
    request.end(method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', ...message }) : undefined);
  });
}

/** Opens a session of the 2025 era and returns its id. */
export async function openSession(server: TestServer, agent?: http.Agent): Promise<string> {
  const options = agent === undefined ? {} : { agent };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } };
  const { session } = await post(server, { id: 1, method: 'initialize', params }, undefined, options);
  await post(server, { method: 'notifications/initialized' }, session, options);
  return session;
}

/** A call in a session. */
export const readInSession = (id: number) => ({
  id,
  method: 'tools/call',
  params: { name: 'read_file', arguments: { root: 'r', path: 'a.txt' } },
});
