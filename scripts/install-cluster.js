import { spawnSync } from 'node:child_process';

/** Installs what the tests with replicas need from Debian. Fails if something is missing, because they would all be skipped. */
const PACKAGES = ['glusterfs-server', 'glusterfs-client', 'redis-server', 'haproxy', 'iproute2', 'util-linux'];
const PROGRAMS = ['glusterd', 'mount.glusterfs', 'redis-server', 'haproxy', 'ip', 'unshare'];

const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const missing = () => PROGRAMS.filter((program) => !has(program));

if (missing().length > 0 && process.getuid?.() === 0 && has('apt-get')) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
  spawnSync('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...PACKAGES], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
if (missing().length > 0) {
  console.error(
    `not installed: ${missing().join(', ')}; as root on Debian, they are installed from ${PACKAGES.join(' ')}`,
  );
  process.exitCode = 1;
}
