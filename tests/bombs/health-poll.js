// A worker that asks a server's /health all the time. Answers each message with the latencies since the last one, in milliseconds.
import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new http.Agent({ keepAlive: true });
let latencies = [];
parentPort.on('message', () => {
  parentPort.postMessage(latencies);
  latencies = [];
});

function poll() {
  const started = performance.now();
  const next = () => {
    latencies.push(performance.now() - started);
    setTimeout(poll, 2);
  };
  http.get(workerData, { agent }, (response) => response.resume().on('end', next)).on('error', next);
}

poll();
