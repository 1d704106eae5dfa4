import { expect, test } from 'vitest';
import { traceContextOf } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const PARENT = `00-${TRACE}-${SPAN}-01`;

test('a traceparent names the trace and the span of the client', () => {
  expect(traceContextOf({ traceparent: PARENT })).toEqual({ traceId: TRACE, spanId: SPAN, state: undefined });
  expect(traceContextOf({ traceparent: PARENT, tracestate: 'a=1,b@c=2' })?.state).toBe('a=1,b@c=2');
});

test('a later version may say more', () => {
  expect(traceContextOf({ traceparent: `01-${TRACE}-${SPAN}-01-more` })).toMatchObject({ traceId: TRACE });
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['no traceparent', { tracestate: 'a=1' }],
  ['a number', { traceparent: 5 }],
  ['an empty text', { traceparent: '' }],
  ['upper case', { traceparent: PARENT.toUpperCase() }],
  ['a short trace', { traceparent: `00-${TRACE.slice(1)}-${SPAN}-01` }],
  ['a short span', { traceparent: `00-${TRACE}-${SPAN.slice(1)}-01` }],
  ['no flags', { traceparent: `00-${TRACE}-${SPAN}` }],
  ['more than version 00 has', { traceparent: `${PARENT}-more` }],
  ['the version that is forbidden', { traceparent: `ff-${TRACE}-${SPAN}-01` }],
  ['a trace of zeros', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` }],
  ['a span of zeros', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }],
  ['a line end', { traceparent: `${PARENT}\n` }],
  ['a long text', { traceparent: `01-${TRACE}-${SPAN}-01-${'x'.repeat(300)}` }],
])('%s is no trace', (_, meta) => {
  expect(traceContextOf(meta)).toBeUndefined();
});

test.each<[string, unknown]>([
  ['a long one', `a=${'x'.repeat(511)}`],
  ['no pair', 'a'],
  ['a line end', 'a=1\nb=2'],
  ['an escape sequence', 'a=\u001b[31m'],
  ['a list', ['a=1']],
])('a tracestate in the wrong form is left out: %s', (_, tracestate) => {
  expect(traceContextOf({ traceparent: PARENT, tracestate })).toMatchObject({ traceId: TRACE, state: undefined });
});
