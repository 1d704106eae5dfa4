import os from 'node:os';

/** What the figures depend on. No name of a host, a user or a folder. */
export function machine() {
  const [cpu] = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    platform: `${os.platform()} ${os.arch()}`,
    kernel: os.release(),
    cores: os.availableParallelism(),
    cpu: cpu?.model.trim(),
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
  };
}
