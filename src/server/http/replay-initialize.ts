import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { SessionClient } from '../sessions/session-id.ts';

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/**
 * Brings a new transport, and the server that is connected to it, into the state after the handshake of a client, as if
 * the client had sent it here.
 */
export async function replayInitialize(
  transport: WebStandardStreamableHTTPServerTransport,
  { protocolVersion, name, capabilities }: SessionClient,
): Promise<void> {
  const params = { protocolVersion, capabilities, clientInfo: { name, version: '' } };
  const send = async (message: object, headers: Record<string, string> = {}): Promise<Response> => {
    const request = new Request('http://ringfence.invalid/mcp', {
      method: 'POST',
      headers: { ...HEADERS, ...headers },
    });
    const response = await transport.handleRequest(request, { parsedBody: { jsonrpc: '2.0', ...message } });
    if (!response.ok) throw new Error(`the handshake was refused with ${response.status}`);
    return response;
  };
  await (await send({ id: 0, method: 'initialize', params })).text();
  await send({ method: 'notifications/initialized' }, { 'mcp-session-id': transport.sessionId ?? '' });
}
