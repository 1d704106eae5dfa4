// Talks to a server at an address with TLS, and prints what it got as JSON. A process of its own, because Node reads the
// certificates that it trusts besides the usual ones at its start (NODE_EXTRA_CA_CERTS).
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [address, token] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}` };
const client = new Client({ name: 'ringfence-docs', version: '0.0.0' });
const transport = new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } });
await client.connect(transport);
const { tools } = await client.listTools();
const content = 'x'.repeat(3_000_000);
const written = await client.callTool({ name: 'write_file', arguments: { root: 'project', path: 'large', content } });
// The first event of a stream arrives while the stream is open only if the proxy does not hold it back.
const accept = 'application/json, text/event-stream';
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
const session = await fetch(address, {
  method: 'POST',
  headers: { ...headers, accept, 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
});
const id = session.headers.get('mcp-session-id') ?? '';
const stream = await fetch(address, { headers: { ...headers, accept: 'text/event-stream', 'mcp-session-id': id } });
const first = await stream.body?.getReader().read();
const event = /retry: /.exec(new TextDecoder().decode(first?.value))?.[0];
process.stdout.write(JSON.stringify({ tools: tools.length > 10, written: written.structuredContent?.size, event }));
process.exit(0);
