// Watches a server from outside while it is attacked: node watcher.js PID HEALTH_URL CALL
// CALL is JSON of a request that another client sends again and again: url, headers, body.
// Prints `ready` when it begins and, at the end of its input, what it saw as JSON.
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const [pid, healthUrl, call] = process.argv.slice(2);
const { url, headers, body } = JSON.parse(call);
const agent = new http.Agent({ keepAlive: true });
let isOver = false;

/** Sends a request and resolves with its status and time; status 0 if it failed. */
function send(where, options, text) {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (status) => resolve({ status, ms: performance.now() - began });
    http
      .request(where, { agent, ...options }, (response) => response.resume().on('end', () => end(response.statusCode)))
      .on('error', () => end(0))
      .end(text);
  });
}

function residentMiB() {
  return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;
}

async function every(milliseconds, step) {
  const all = [];
  while (!isOver) {
    all.push(await step());
    await delay(milliseconds);
  }
  return all;
}

/** The 99th percentile of times, in ms. */
function at99(answers) {
  const times = answers.map(({ ms }) => ms).sort((a, b) => b - a);
  return Math.round(times[Math.floor(times.length / 100)] * 10) / 10;
}

process.stdin.resume().on('end', () => {
  isOver = true;
});
const idle = residentMiB();
const watching = Promise.all([
  every(10, residentMiB),
  every(10, () => send(healthUrl, { method: 'GET' })),
  every(30, () => send(url, { method: 'POST', headers }, body)),
]);
process.stdout.write('ready\n');
const [memory, health, calls] = await watching;
const served = calls.filter(({ status }) => status === 200).length / calls.length;
const figures = {
  memoryMiB: Math.round(Math.max(...memory) - idle),
  healthMs: at99(health),
  healthFailures: health.filter(({ status }) => status !== 200).length,
  served,
  servedMs: at99(calls),
  calls: calls.length,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);
