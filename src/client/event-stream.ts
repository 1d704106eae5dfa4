/**
 * Returns the data of the events of a stream of server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Ids and names are not needed here.
 */
export async function* eventData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line: string[] = [];
  let data: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n');
    line.push(first);
    for (const next of rest) {
      const text = line.join('').replace(/\r$/, '');
      line = [next];
      if (text.startsWith('data:')) data.push(text.slice(5).replace(/^ /, ''));
      if (text !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
  }
}
