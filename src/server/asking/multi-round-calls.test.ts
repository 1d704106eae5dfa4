import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningHttpServer, startHttp } from '../http/http-server.ts';
import { known, locked, service } from './asking-service.fixture.ts';

let open: RunningHttpServer;
let authed: RunningHttpServer;
beforeAll(async () => {
  open = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
  authed = await startHttp([{ path: '/mcp', service: locked }], { host: '127.0.0.1', port: 0 });
});
afterAll(() => Promise.all([open.close(0), authed.close(0)]));
beforeEach(() => known.clear());

interface Retry {
  readonly args?: object;
  readonly token?: string;
  readonly requestState?: string | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
}

/** One request of a client that does everything by hand. */
async function round({ args = {}, token, ...retry }: Retry = {}) {
  const { base } = token === undefined ? open : authed;
  const response = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'ask',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'ask',
        arguments: args,
        ...retry,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
          'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
        },
      },
    }),
  });
  const body = await response.text();
  const { result, error } = JSON.parse(body.startsWith('{') ? body : (/^data: (.+)$/m.exec(body)?.[1] ?? '{}'));
  const [key = ''] = Object.keys(result?.inputRequests ?? {});
  return {
    result,
    error,
    key,
    requestState: result?.requestState as string,
    text: result?.content?.[0].text as string,
  };
}

const said = (text: string) => ({ role: 'assistant', model: 'm', content: { type: 'text', text } });
const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('a round ends with the question and comes again with the answer', async () => {
  const first = await round();
  expect(first.result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { [first.key]: { method: 'sampling/createMessage', params: { maxTokens: 100 } } },
  });
  const second = await round({ requestState: first.requestState, inputResponses: { [first.key]: said('fine') } });
  expect(second.text).toContain('fine');
});

test('the rounds of an anonymous call share what they learn, and its next call does not', async () => {
  const args = { text: 'a b' };
  const first = await round({ args });
  const second = await round({ args, requestState: first.requestState, inputResponses: { [first.key]: said('1') } });
  const { requestState, key } = second;
  expect(key).not.toBe(first.key);
  const third = await round({ args, requestState, inputResponses: { [key]: said('2') } });
  expect(third.text).toMatch(/1.*2/);
  expect((await round({ args })).key).toBe(first.key);
});

test('arguments may come back in another order', async () => {
  const first = await round({ args: { text: 'x', timeout_ms: 1_000 } });
  const { requestState, key } = first;
  const args = { timeout_ms: 1_000, text: 'x' };
  expect((await round({ args, requestState, inputResponses: { [key]: said('fine') } })).text).toContain('fine');
});

test('a state that was changed, is of another call, of another client or of another server is refused', async () => {
  const mine = await round({ token: 'one', args: { text: 'x' } });
  const inputResponses = { [mine.key]: said('forged') };
  const [version, body = '', mac] = mine.requestState.split('.');
  const state = JSON.parse(Buffer.from(body, 'base64url').toString());
  state.p.client = 'principal:two';
  const forged = [version, Buffer.from(JSON.stringify(state)).toString('base64url'), mac].join('.');
  const anonymous = await round({ args: { text: 'x' } });
  const attempts: Retry[] = [
    { token: 'two', args: { text: 'x' }, requestState: forged },
    { token: 'one', args: { text: 'x' }, requestState: `${mine.requestState}x` },
    { token: 'one', args: { text: 'x' }, requestState: 'nonsense' },
    { token: 'one', args: { text: 'x' }, requestState: '' },
    { token: 'one', args: { text: 'y' }, requestState: mine.requestState },
    { token: 'two', args: { text: 'x' }, requestState: mine.requestState },
    { token: 'one', args: { text: 'x' }, requestState: anonymous.requestState },
    { args: { text: 'x' }, requestState: mine.requestState },
  ];
  for (const attempt of attempts) {
    const { error } = await round({ ...attempt, inputResponses });
    expect(error).toEqual({
      code: -32602,
      message: 'Invalid or expired requestState: it was not issued for this call; call again without it',
      data: { reason: 'invalid_request_state' },
    });
  }
  const answered = await round({ token: 'one', args: { text: 'x' }, requestState: mine.requestState, inputResponses });
  expect(answered.text).toContain('forged');
});

test('the state contains nothing that its client does not know', async () => {
  const { requestState } = await round({ args: { text: 'secret words' } });
  const state = JSON.parse(Buffer.from(requestState.split('.')[1] ?? '', 'base64url').toString());
  expect(Object.keys(state.p).sort()).toEqual(['asked', 'call', 'client', 'round']);
});

test('an answer that nobody asked for is none', async () => {
  const { key } = await round();
  expect((await round({ inputResponses: { [key]: said('unasked') } })).result.resultType).toBe('input_required');
});

test('without an answer the question is put again, on the time of the first', async () => {
  const args = { timeout_ms: 1_500 };
  const first = await round({ args });
  const again = await round({ args, requestState: first.requestState });
  expect([again.result.resultType, again.key]).toEqual(['input_required', first.key]);
  await later(1_600);
  const { requestState } = again;
  const late = await round({ args, requestState, inputResponses: { [first.key]: said('late') } });
  expect(late.text).toBe('timed_out {"seconds":1.5}');
});

test.each([
  [{ action: 'decline' }, 'permission_denied {}'],
  [{ role: 'assistant' }, 'bad_answer {"problem":"it has no content"}'],
  [{ role: 'assistant', content: 5 }, 'bad_answer {"problem":"it has no content"}'],
  [
    { method: 'sampling/createMessage', result: said('x') },
    'bad_answer {"problem":"it must be the result alone, not wrapped in anything"}',
  ],
])('%j is answered %s', async (response, expected) => {
  const { key, requestState } = await round();
  expect((await round({ requestState, inputResponses: { [key]: response } })).text).toBe(expected);
});

test('a call that never learns enough is ended', async () => {
  const args = { timeout_ms: 60_000 };
  let { result, requestState, text } = await round({ args });
  let rounds = 1;
  for (; result.resultType === 'input_required' && rounds < 100; rounds += 1) {
    ({ result, requestState, text } = await round({ args, requestState }));
  }
  expect(text).toBe('bad_answer {"problem":"none came in so many rounds"}');
  expect(rounds).toBe(33);
});

test('of two calls of one principal with the same question the second waits for the first one’s answer', async () => {
  const first = await round({ token: 'one' });
  const second = round({ token: 'one' });
  const others = await round({ token: 'two' });
  expect(others.result.resultType).toBe('input_required');
  await later(50);
  known.clear();
  const { key, requestState } = first;
  await round({ token: 'one', requestState, inputResponses: { [key]: said('fine') } });
  expect((await second).text).toContain('fine');
});

test('calls that come at the same time ask once', async () => {
  const all = [1, 2, 3].map(() => round({ token: 'one' }));
  const { key, requestState } = await Promise.race(all);
  await round({ token: 'one', requestState, inputResponses: { [key]: said('fine') } });
  const answers = await Promise.all(all);
  expect(answers.filter(({ result }) => result.resultType === 'input_required')).toHaveLength(1);
  expect(answers.filter(({ text }) => text?.includes('fine'))).toHaveLength(2);
});

test('it asks for itself when the first one’s answer stays away', async () => {
  const args = { timeout_ms: 3_000 };
  await round({ token: 'one', args });
  const { result, key, requestState } = await round({ token: 'one', args });
  expect(result.resultType).toBe('input_required');
  const answered = await round({ token: 'one', args, requestState, inputResponses: { [key]: said('own') } });
  expect(answered.text).toContain('own');
});
