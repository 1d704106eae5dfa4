// Many clients over HTTP, each with one call on the way all the time, in a process of their own.
import http from 'node:http';
import { CALLS } from './calls.js';
import { answerRequests } from './helper.js';
import { HttpClient } from './http.js';

let agent;
let clients = [];

/** `{ open: { urls, era, clients } }` connects, by turns, `{ run: { calls, ms } }` calls for so long, `{ close: true }` hangs up. */
answerRequests(async ({ open, run }) => {
  if (run !== undefined) return turn(run);
  agent?.destroy();
  clients = [];
  if (open === undefined) return undefined;
  agent = new http.Agent({ keepAlive: true, maxSockets: open.clients });
  const { urls, era } = open;
  clients = Array.from(
    { length: open.clients },
    (_, index) => new HttpClient(urls[index % urls.length], { era, agent }),
  );
  await Promise.all(clients.map((client) => client.open()));
  return undefined;
});

/** How many calls in how many milliseconds, how long each took, and what went wrong. */
async function turn({ calls, ms }) {
  const callOf = CALLS[calls];
  const latencies = [];
  const answers = [];
  let next = 0;
  const started = performance.now();
  const end = started + ms;
  await Promise.all(
    clients.map(async (client) => {
      // At least once each, however short the turn.
      do {
        const sent = performance.now();
        answers.push(await client.call(...callOf(next++)));
        latencies.push(performance.now() - sent);
      } while (performance.now() < end);
    }),
  );
  const took = performance.now() - started;
  return { calls: answers.length, ms: took, latencies, failures: failuresOf(answers) };
}

/** Looked at when the clock has stopped. */
function failuresOf(answers) {
  const failures = [];
  for (const { result } of answers) {
    try {
      result();
    } catch (error) {
      failures.push(error.message);
    }
  }
  return failures;
}
