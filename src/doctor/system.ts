import os from 'node:os';
import type { Backend } from '../fence/index.ts';
import { loadKoffi } from '../runtime/koffi.ts';
import { type Finding, findingsIn } from './finding.ts';

const { ok, info, missing } = findingsIn('system');
const OLDEST_NODE = 20;

/** Says what this installation runs on, and which fence it uses. */
export function examineSystem(backend: Backend, env: NodeJS.ProcessEnv = process.env): Finding[] {
  const major = Number(process.versions.node.split('.')[0]);
  const node = `${process.version} for ${process.platform} ${process.arch}`;
  return [
    major >= OLDEST_NODE ? ok('Node', node) : missing('Node', node, `install Node ${OLDEST_NODE} or newer`),
    info('kernel', `${os.type()} ${os.release()}`),
    koffi(),
    fence(backend, env.RINGFENCE_FENCE || undefined),
  ];
}

function koffi(): Finding {
  try {
    loadKoffi();
    return ok('koffi', 'system calls that Node lacks can be made');
  } catch {
    if (process.platform !== 'linux') return info('koffi', 'not needed: only Linux has the system calls');
    const advice = `install with optional dependencies: npm install --include=optional (@koromix/koffi-${process.platform}-${process.arch})`;
    return missing('koffi', 'not installed for this platform, so neither openat2 nor Landlock can be used', advice);
  }
}

function fence({ name }: Backend, forced: string | undefined): Finding {
  if (name === 'openat2') return ok('fence', 'openat2: the kernel confines every path in one step');
  const how =
    name === 'procfd'
      ? 'procfd: every folder of a path is opened by itself, as safe and slower'
      : 'portable: paths are checked before and after, which a swap at the right moment can beat';
  if (forced !== undefined) return missing('fence', `${how} (RINGFENCE_FENCE)`, 'unset RINGFENCE_FENCE');
  if (process.platform !== 'linux')
    return missing('fence', how, 'run it on Linux, for example in Docker, if agents are not trusted');
  return missing('fence', how, 'see koffi above, or use Linux 5.6 or newer outside of a sandbox that forbids openat2');
}
