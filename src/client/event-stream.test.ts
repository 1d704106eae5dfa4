import { expect, test } from 'vitest';
import { eventData } from './event-stream.ts';

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 7, 1000])('events are read whole from chunks of %i bytes', async (size) => {
  const text = ': hi\n\nid: 1\ndata:\n\nevent: message\r\ndata: {"a":"ä€😀"}\r\n\r\ndata: 1\ndata:2\n\ndata: cut off\n';
  const found: string[] = [];
  for await (const data of eventData(chunksOf(text, size))) found.push(data);
  expect(found).toEqual(['', '{"a":"ä€😀"}', '1\n2']);
});
