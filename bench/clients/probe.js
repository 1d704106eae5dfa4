// Asks a server for its health again and again, in a process that does nothing else, and notes how long each answer took.
import http from 'node:http';
import { answerRequests } from './helper.js';

const INTERVAL_MS = 4;
const agent = new http.Agent({ keepAlive: true });

answerRequests(async ({ url, ms }) => {
  const latencies = [];
  const end = performance.now() + ms;
  do {
    const sent = performance.now();
    await get(url);
    latencies.push(performance.now() - sent);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  } while (performance.now() < end);
  return latencies;
});

function get(url) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent }, (response) => {
      response.resume();
      response.once('error', reject);
      response.once('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`health: ${response.statusCode}`)),
      );
    });
    request.on('error', reject);
  });
}
