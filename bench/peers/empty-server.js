// A server of the SDK with one tool that does nothing: what the protocol alone costs.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isInitializeRequest, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const inputSchema = z.object({});

function newServer() {
  const server = new McpServer({ name: 'empty', version: '1' });
  server.registerTool('nothing', { description: 'Does nothing.', inputSchema }, () => ({
    content: [{ type: 'text', text: 'ok' }],
  }));
  return server;
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Sessions for 2025-era clients at /mcp/2025, requests without a session at /mcp/2026: each as the SDK has it. */
function serveHttp() {
  const sessions = new Map();
  const modern = toNodeHandler(createMcpHandler(newServer));

  const legacy = async (request, response) => {
    const body = await bodyOf(request);
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (transport === undefined && isInitializeRequest(body)) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await newServer().connect(transport);
    }
    if (transport === undefined) return response.writeHead(404).end();
    await transport.handleRequest(request, response, body);
  };

  const server = http.createServer(async (request, response) => {
    // As light as a server's answer can be, to compare how long it waits for its turn.
    if (request.url === '/health') return response.writeHead(200).end('ok');
    try {
      await (request.url === '/mcp/2025' ? legacy : modern)(request, response);
    } catch {
      response.destroy();
    }
  });
  // Longer than a contender's turn, so that no kept connection is closed under its client.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`));
}

if (process.argv[2] === 'http') serveHttp();
else serveStdio(newServer);
