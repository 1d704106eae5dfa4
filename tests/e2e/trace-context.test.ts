import { expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import { inWorkspace } from '../support/workspace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const META = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' };

inWorkspace({ connections: CONNECTIONS }, (w) => {
  const read = async (path: string, meta: Readonly<Record<string, unknown>>) => {
    await w.server.client.callTool({ name: 'read_file', arguments: { root: 'workspace', path }, _meta: { ...meta } });
    return w.server.waitForLog((line) => line.tool === 'read_file' && line.path === path);
  };

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['on the fast path', {}],
    ['by the SDK', { 'io.modelcontextprotocol/logLevel': 'info' }],
  ])('the line of a call names the trace of the client, %s', async (how, more) => {
    const path = `trace ${how}`;
    w.file(path, 'content');
    const line = await read(path, { ...META, ...more });
    expect(line).toMatchObject({ msg: 'call', trace_id: TRACE, span_id: SPAN, trace_state: 'vendor=1' });
  });

  test('so does that of a violation', async () => {
    expect(await read('../trace', META)).toMatchObject({ msg: 'security violation', trace_id: TRACE, span_id: SPAN });
  });

  test('what is no trace is left out, and the call works', async () => {
    w.file('no trace', 'content');
    const line = await read('no trace', { traceparent: `x\n${META.traceparent}`, tracestate: 'vendor=1' });
    expect(line).toMatchObject({ outcome: 'success' });
    for (const key of ['trace_id', 'span_id', 'trace_state']) expect(line).not.toHaveProperty(key);
  });
});
