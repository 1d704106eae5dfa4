// Loaded into a server with --import: breaks its fence, and tries by itself to get out when it gets SIGPWR.
//
// The fence is broken where it is strongest, in openat2(2), which is told to follow links to anywhere. What is tried without the
// fence goes through the file `node:fs` of the main thread, libuv's pool, a worker and child processes, and through sockets. The
// outcomes are one line of JSON on stderr. With PROBE_THREADS, each worker thread of the server tries, too, when it starts.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const OUTSIDE = process.env.PROBE_OUTSIDE ?? '';
const INSIDE = process.env.PROBE_INSIDE ?? '';
const SELF = new URL(import.meta.url);
const RESOLVE_AT = 16;

breakFence();
await breakGuards();
if (workerData?.probe === true) {
  parentPort.postMessage({ worker: trySync('worker'), 'pool of the worker': await tryPool('worker-pool') });
} else if (isMainThread) {
  breakFenceOfWorkers();
  process.on('SIGPWR', probe);
} else if (process.env.PROBE_THREADS !== undefined) {
  probeOwnThread();
}

function breakFence() {
  const require = createRequire(import.meta.url);
  const koffi = require(`@koromix/koffi-linux-${process.arch}`);
  const { load } = koffi;
  koffi.load = (name) => {
    const library = load(name);
    const func = (declaration) => {
      const call = library.func(declaration);
      if (!declaration.includes(' *how')) return call;
      return (number, dir, file, how, size) => {
        how.fill(0, RESOLVE_AT, size);
        return call(number, dir, file, how, size);
      };
    };
    return { func };
  };
}

/** The guards would notice that a directory is not where its names lead. */
async function breakGuards() {
  const { DescriptorDir } = await import(new URL('../../dist/fence/descriptor-dir.js', import.meta.url));
  DescriptorDir.prototype.isAt = () => true;
}

function breakFenceOfWorkers() {
  const threads = createRequire(import.meta.url)('node:worker_threads');
  threads.Worker = class extends Worker {
    constructor(entry, options) {
      super(entry, { ...options, execArgv: ['--import', SELF.href] });
    }
  };
  syncBuiltinESMExports();
}

async function probe() {
  const outcomes = {
    files: { main: trySync('main'), pool: await tryPool('pool'), ...(await tryWorker()) },
    child: tryChildren(),
    network: { connect: await tryConnect(), listen: await tryListen() },
    unrestrictedThreads: threadsWithNewPrivileges(),
  };
  process.stderr.write(`${JSON.stringify({ msg: 'probe', outcomes })}\n`);
}

/** Tries to get out from a thread that the server itself has started, before that does anything else. */
function probeOwnThread() {
  const thread = path.basename(process.argv[1], '.js');
  fs.writeSync(2, `${JSON.stringify({ msg: 'thread probe', thread, outcomes: trySync(thread) })}\n`);
}

/** Every way to read or change what is outside. `own` keeps the attempts of several threads apart. */
function attempts(own, io) {
  const at = (name) => path.join(OUTSIDE, name);
  return {
    read: () => io.readFile(at('secret.txt')),
    list: () => io.readdir(OUTSIDE),
    overwrite: () => io.writeFile(at(`overwritten-${own}`), 'changed'),
    append: () => io.appendFile(at(`appended-${own}`), 'changed'),
    truncate: () => io.truncate(at(`truncated-${own}`)),
    create: () => io.writeFile(at(`created-${own}`), 'created'),
    mkdir: () => io.mkdir(at(`folder-${own}`)),
    symlink: () => io.symlink('target', at(`link-${own}`)),
    link: () => io.link(at('secret.txt'), path.join(INSIDE, `linked-${own}`)),
    'move in': () => io.rename(at(`moved-${own}`), path.join(INSIDE, `moved-${own}`)),
    'move out': () => io.rename(path.join(INSIDE, `inside-${own}`), at(`inside-${own}`)),
    remove: () => io.unlink(at(`removed-${own}`)),
    passwd: () => io.readFile('/etc/passwd'),
  };
}

function trySync(own) {
  const synchronous = Object.entries(fs).filter(([name]) => name.endsWith('Sync'));
  const io = Object.fromEntries(synchronous.map(([name, call]) => [name.slice(0, -'Sync'.length), call]));
  return Object.fromEntries(Object.entries(attempts(own, io)).map(([name, attempt]) => [name, outcome(attempt)]));
}

/** Reads also many times at once, so that all threads of the pool take part. */
async function tryPool(own) {
  const tried = {};
  for (const [name, attempt] of Object.entries(attempts(own, fs.promises))) tried[name] = await asyncOutcome(attempt);
  const reads = Array.from({ length: 64 }, () =>
    asyncOutcome(() => fs.promises.readFile(path.join(OUTSIDE, 'secret.txt'))),
  );
  return { ...tried, 'read at once': [...new Set(await Promise.all(reads))].join(' ') };
}

function tryWorker() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(SELF, { workerData: { probe: true }, execArgv: [] });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function tryChildren() {
  const script = `process.stdout.write(require('node:fs').readFileSync(${JSON.stringify(path.join(OUTSIDE, 'secret.txt'))}))`;
  const run = (command, ...args) => {
    const { error, status } = spawnSync(command, args);
    return error?.code ?? (status === 0 ? 'ok' : `exit ${status}`);
  };
  return {
    node: run(process.execPath, '-e', script),
    cat: run('/bin/cat', path.join(OUTSIDE, 'secret.txt')),
    'own program': run(path.join(INSIDE, 'program.sh')),
  };
}

function tryConnect() {
  return new Promise((resolve) => {
    const socket = net.connect(Number(process.env.PROBE_PORT), '127.0.0.1');
    socket.once('connect', () => resolve('ok')).once('error', ({ code }) => resolve(code));
  });
}

function tryListen() {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', ({ code }) => resolve(code));
    server.listen(Number(process.env.PROBE_FREE_PORT), '127.0.0.1', () => server.close(() => resolve('ok')));
  });
}

/** Threads are restricted only together with this bit, which /proc shows. */
function threadsWithNewPrivileges() {
  const tasks = fs.readdirSync('/proc/self/task');
  return tasks.filter((task) => /^NoNewPrivs:\t0$/m.test(statusOf(task))).length;
}

function statusOf(task) {
  try {
    return fs.readFileSync(`/proc/self/task/${task}/status`, 'utf8');
  } catch ({ code }) {
    // The thread has ended meanwhile.
    return code;
  }
}

function outcome(attempt) {
  try {
    attempt();
    return 'ok';
  } catch (error) {
    return error.code;
  }
}

async function asyncOutcome(attempt) {
  try {
    await attempt();
    return 'ok';
  } catch (error) {
    return error.code;
  }
}
