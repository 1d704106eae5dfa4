import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Config, LocalRootConfig } from '../config/config.ts';
import { landlockMode } from '../hardening/harden.ts';
import { landlockPolicy } from '../hardening/policy.ts';
import { compiledFile } from '../runtime/compiled-file.ts';
import { CAPABILITIES } from '../tools/capabilities.ts';
import { type Finding, findingsIn } from './finding.ts';
import type { LandlockTrial, TrialOutcomes } from './landlock-trial.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const { ok, info, missing, failed } = findingsIn('landlock');
/** The version of the interface that also limits TCP. */
const NET_ABI = 4;
const NETWORK = ['listen on another port', 'connect to a port'];
const ALLOWED = [
  'read a writable root',
  'write to a writable root',
  'read a read-only root',
  'listen on the configured port',
];

/**
 * Confines a process of its own as the server would be, and tries each rule there. Says so if the config, the kernel or
 * this installation leaves Landlock out.
 */
export async function proveLandlock(config: Config): Promise<Finding[]> {
  const { mode, origin } = landlockMode(config);
  if (mode === 'off') {
    const advice = `set ${origin} to auto, so that the kernel confines the server too`;
    return [missing('mode', 'off: nothing but the fence confines the server', advice)];
  }
  const found = await runTrial(config);
  if ('problem' in found) {
    const advice =
      'see koffi above; else use Linux 5.19 or newer with landlock in its list of security modules, and a container that allows its system calls';
    return [missing('mode', `${mode}, but not enforced: ${found.problem}`, advice)];
  }
  const { status, outcomes } = found;
  return [
    ok('mode', `${mode}: enforced, ABI ${status.abi}`),
    ...(status.abi >= NET_ABI
      ? []
      : [missing('TCP', 'not limited by this kernel', 'use Linux 6.7 or newer to limit it to the port of the server')]),
    ...Object.entries(outcomes).map(([what, outcome]) => judge(what, outcome, status.network)),
  ];
}

function judge(what: string, outcome: string, network: boolean): Finding {
  if (ALLOWED.includes(what)) {
    return outcome === 'done' ? ok(what, 'works') : failed(what, `does not work (${outcome})`);
  }
  if (NETWORK.includes(what) && !network) return info(what, outcome === 'done' ? 'is possible' : outcome);
  if (outcome === 'EACCES' || outcome === 'EPERM') return ok(what, 'is refused by the kernel');
  return failed(what, outcome === 'done' ? 'is possible' : `failed for another reason (${outcome})`);
}

async function runTrial(config: Config): Promise<TrialOutcomes | { readonly problem: string }> {
  using temporary = new TemporaryFolder();
  const [writable, readable, outside] = ['writable', 'readable', 'outside'].map((name) => temporary.folder(name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [writable, readable, outside]) fs.writeFileSync(path.join(folder, 'file'), 'x');
  const [port, otherPort] = await freePorts();
  const root = (folder: string, readOnly: boolean): LocalRootConfig => ({
    name: path.basename(folder),
    path: folder,
    allowed: CAPABILITIES,
    origin: folder,
    readOnly,
  });
  const trial: LandlockTrial = {
    policy: landlockPolicy(
      { ...config, host: '127.0.0.1', port, roots: [root(writable, false), root(readable, true)] },
      { listens: true },
    ),
    ...{ writable, readable, outside, port, otherPort, program: process.execPath },
  };
  const program = fileURLToPath(compiledFile(import.meta.url, './landlock-probe.js'));
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(trial)]);
  return JSON.parse(stdout) as TrialOutcomes | { problem: string };
}

/** Returns two ports that nobody listens on. */
async function freePorts(): Promise<[number, number]> {
  const servers = [net.createServer(), net.createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports as [number, number];
}
