import { describe, expect, test } from 'vitest';
import { ToolError } from '../../tools/errors.ts';
import { BridgeError } from '../bridge-error.ts';
import { deferred } from '../deferred.fixture.ts';
import { SingleFlight, unlessAborted } from './single-flight.ts';

/** A question whose answer is given by the test. */
function question() {
  const asked: AbortController[] = [];
  const { promise, resolve, reject } = deferred<string>();
  const ask = (abort: AbortController) => {
    asked.push(abort);
    return unlessAborted(promise, abort.signal);
  };
  return { asked, ask, resolve, reject };
}

const waiter = (key: string | undefined, signal?: AbortSignal) => ({ key, signal });

test('concurrent calls with the same key share a flight, later calls start a new one', async () => {
  const asks = new SingleFlight();
  const { asked, ask, resolve } = question();
  const both = [asks.run(waiter('a'), ask), asks.run(waiter('a'), ask), asks.run(waiter('b'), ask)];
  expect([asked.length, asks.size]).toEqual([2, 2]);
  resolve('yes');
  expect(await Promise.all(both)).toEqual(['yes', 'yes', 'yes']);
  expect(asks.size).toBe(0);
  await asks.run(waiter('a'), ask);
  expect(asked).toHaveLength(3);
});

test('calls without a key never share a flight', async () => {
  const asks = new SingleFlight();
  const { asked, ask, resolve } = question();
  const both = [asks.run(waiter(undefined), ask), asks.run(waiter(undefined), ask)];
  resolve('yes');
  await Promise.all(both);
  expect(asked).toHaveLength(2);
});

describe('a caller that aborts', () => {
  test('does not cancel the flight for the others', async () => {
    const asks = new SingleFlight();
    const { asked, ask, resolve } = question();
    const stop = new AbortController();
    const first = asks.run(waiter('a', stop.signal), ask);
    const second = asks.run(waiter('a'), ask);
    stop.abort();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    expect(asked[0]?.signal.aborted).toBe(false);
    resolve('yes');
    expect(await second).toBe('yes');
    expect(asked).toHaveLength(1);
  });

  test('aborts the flight if nobody else waits', async () => {
    const asks = new SingleFlight();
    const { asked, ask } = question();
    const stop = new AbortController();
    const waits = [asks.run(waiter('a', stop.signal), ask), asks.run(waiter('a', stop.signal), ask)];
    stop.abort(new ToolError('timed_out', { seconds: 1 }));
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'timed_out', errorType: 'timeout' });
    expect(asked[0]?.signal.aborted).toBe(true);
    await new Promise(setImmediate);
    expect(asks.size).toBe(0);
  });

  test('before the call starts no flight', async () => {
    const { asked, ask } = question();
    await expect(new SingleFlight().run(waiter('a', AbortSignal.abort()), ask)).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(asked).toEqual([]);
  });
});

describe('an error', () => {
  test('of the closed list reaches every waiter', async () => {
    const asks = new SingleFlight();
    const { ask, reject, asked } = question();
    const both = [asks.run(waiter('a'), ask), asks.run(waiter('a'), ask)];
    reject(new BridgeError('not_found', {}));
    for (const one of both) await expect(one).rejects.toMatchObject({ code: 'not_found' });
    expect(asked).toHaveLength(1);
  });

  test.each([new Error('a signal of the first'), new BridgeError('cancelled', {})])(
    'of another kind (%s) reaches the first caller only, and the next starts a new flight',
    async (failure) => {
      const asks = new SingleFlight();
      const mine = question();
      const first = asks.run(waiter('a'), mine.ask);
      const second = asks.run(waiter('a'), async () => 'asked by myself');
      mine.reject(failure);
      await expect(first).rejects.toBe(failure);
      expect(await second).toBe('asked by myself');
      expect(asks.size).toBe(0);
    },
  );
});

test('the number of flights is limited', async () => {
  const asks = new SingleFlight();
  const { ask, resolve } = question();
  const many = Array.from({ length: 100 }, (_, i) => asks.run(waiter(`${i}`), ask));
  await expect(asks.run(waiter('one more'), ask)).rejects.toMatchObject({ code: 'exhausted', errorType: 'system' });
  const joined = asks.run(waiter('0'), ask);
  resolve('yes');
  await Promise.all([...many, joined]);
});
