import { spawnSync } from 'node:child_process';

/** Installs what the tests with replicas need from Debian, where that is possible. Tests that lack something say so. */
const PACKAGES = ['glusterfs-server', 'glusterfs-client', 'redis-server', 'haproxy', 'iproute2', 'util-linux'];
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

if (!['glusterd', 'mount.glusterfs', 'redis-server', 'haproxy', 'ip', 'unshare'].every(has)) {
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    console.error(`cannot install ${PACKAGES.join(' ')} here: this needs root and apt-get`);
  } else {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore' });
    const { status } = spawnSync('apt-get', ['install', '-qq', '-y', '--no-install-recommends', ...PACKAGES], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) console.error(`not all of these could be installed: ${PACKAGES.join(' ')}`);
  }
}
