import { patternsProblem } from '../../fence/index.ts';
import {
  AGENT_CAPABILITIES,
  CAPABILITIES,
  type Capability,
  CONFIRMABLE_CAPABILITIES,
} from '../../tools/capabilities.ts';
import { type AgentConfig, canChange, type RootConfig } from '../config.ts';
import type { Fail } from '../config-error.ts';
import { rootNameProblem } from '../root-name.ts';
import { toCapabilities } from './allowed-tools.ts';
import { checkHistory } from './history-config.ts';
import { keyName } from './key-name.ts';
import { resolveFolder, type Surroundings } from './resolve-path.ts';
import type { ConfigFile } from './schema.ts';

/** Checks the roots of a config. Calls `fail` for the first problem, with a line that names the key. */
export function checkRoots(roots: ConfigFile['roots'], surroundings: Surroundings): RootConfig[] {
  const { fail } = surroundings;
  const seen = new Map<string, number>();
  return roots.map((root, index) => {
    const at = `roots[${index}]`;
    const problem = rootNameProblem(root.name);
    if (problem !== undefined) fail(`${at}.name ${problem}`);
    const earlier = seen.get(root.name);
    if (earlier !== undefined)
      fail(
        `${at}.name: duplicate root name "${root.name}", already used by roots[${earlier}]; give each root its own name`,
      );
    seen.set(root.name, index);
    const all = root.agent === undefined ? CAPABILITIES : AGENT_CAPABILITIES;
    const allowed = root.allowed_tools.flatMap((tool, nth) =>
      toCapabilities(tool, all, (what) => fail(`${at}.allowed_tools[${nth}]: ${what(root.name)}`)),
    );
    if (root.agent !== undefined) {
      if (root.path !== undefined)
        fail(`${at} has both path and agent; keep path for a folder of this machine, agent for files of the client`);
      for (const key of ['read_only', 'deny', 'protect', 'confirm'] as const)
        if (root[key] !== undefined)
          fail(`${at}.${key}: is for folders of this machine; agent.allowed_paths limits this root`);
      if (root.history !== undefined)
        fail(
          `${at}.history: is for folders of this machine; files on the client's side are only read, so leave it out`,
        );
      return { name: root.name, agent: toAgent(root.agent), allowed, origin: `${at}.agent.allowed_paths` };
    }
    if (root.path === undefined) {
      return fail(`${at}.path is required; or give agent instead, for files of the client`);
    }
    const origin = `${at}.path`;
    const folder = resolveFolder(root.path, origin, surroundings);
    const rules = checkRules(root, (what) => fail(`${at}.${what}`));
    const history = checkHistory(root.history, {
      name: (keys) => keyName(['roots', index, 'history', ...keys]),
      fail,
    });
    const local = { name: root.name, path: folder, allowed, origin, ...rules, ...(history && { history }) };
    if (history !== undefined && !canChange(local))
      fail(
        `${at}.history: nothing in this root may be changed (${rules.readOnly ? 'read_only' : 'allowed_tools'}), so there is nothing to keep; leave it out`,
      );
    return local;
  });
}

function checkRules({ read_only: readOnly, deny, protect, confirm }: ConfigFile['roots'][number], fail: Fail) {
  for (const [key, patterns = []] of Object.entries({ deny, protect })) {
    const found = patternsProblem(patterns);
    if (found !== undefined) fail(`${key}[${found.index}]: ${JSON.stringify(patterns[found.index])} ${found.problem}`);
  }
  return {
    ...(readOnly && { readOnly }),
    ...(deny && { deny }),
    ...(protect && { protect }),
    ...(confirm && { confirm: toConfirmable(confirm, fail) }),
  };
}

function toConfirmable(confirm: readonly string[], fail: Fail): readonly Capability[] {
  return confirm.flatMap((tool, nth) => {
    const at = `confirm[${nth}]`;
    const isHarmless =
      CAPABILITIES.some((name) => name === tool) && !CONFIRMABLE_CAPABILITIES.some((name) => name === tool);
    if (isHarmless) return fail(`${at}: ${tool} changes nothing, so nobody can be asked about it; leave it out`);
    return toCapabilities(tool, CONFIRMABLE_CAPABILITIES, (what) => fail(`${at}: ${what('')}`));
  });
}

/** Returns the options of client-side files, from what the config file says. */
export function toAgent(written: NonNullable<ConfigFile['roots'][number]['agent']>): AgentConfig {
  return { allowedPaths: written.allowed_paths, cacheBytes: written.cache_bytes, timeout: written.timeout };
}
