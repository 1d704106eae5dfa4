// Serves the fixtures of the conformance suite at /mcp, over the HTTP stack of Ringfence: its routing, access control, sessions,
// event streams and SDK set-up, with another SDK server in place of the tools of a dialect. Prints its URL.
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequestStateCodec, McpServer } from '@modelcontextprotocol/server';
import { pino } from 'pino';
import { configFromDirs } from '../../dist/config/folders/config-from-dirs.js';
import { workspace } from '../../dist/dialects/workspace/index.js';
import { chooseBackend } from '../../dist/fence/index.js';
import { startHttp } from '../../dist/server/http/http-server.js';
import { openService } from '../../dist/server/open-service.js';
import { addInputRequiredTools, addNotifyingTools, addRequestingTools } from './fixtures/asking.js';
import { addContentTools, addPrompts, addResources } from './fixtures/content.js';

const CACHE = { ttlMs: 60_000, cacheScope: 'public' };
const codec = createRequestStateCodec({ key: crypto.randomBytes(32) });

function newServer(_peer, era) {
  const server = new McpServer(
    { name: 'ringfence-conformance', version: '0.0.0' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
      requestState: { verify: codec.verify },
      cacheHints: { 'tools/list': CACHE, 'resources/list': CACHE, 'resources/read': CACHE, 'prompts/list': CACHE },
    },
  );
  addContentTools(server);
  addNotifyingTools(server);
  addRequestingTools(server);
  addInputRequiredTools(server, codec);
  addPrompts(server);
  addResources(server);
  // For 2026-07-28, the SDK checks headers by the schemas that only an `McpServer` knows.
  return era === 'modern' ? server : server.server;
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-conformance-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
process.once('SIGTERM', () => process.exit(0));
const service = openService({
  config: configFromDirs([folder]),
  dialect: workspace,
  backend: chooseBackend(),
  logger: pino({ level: 'silent' }),
});
const { base } = await startHttp([{ path: '/mcp', service }], {
  host: '127.0.0.1',
  port: 0,
  // The fast path knows the tools of the service alone.
  fastPath: false,
  newServer,
});
process.stdout.write(`${base}/mcp\n`);
