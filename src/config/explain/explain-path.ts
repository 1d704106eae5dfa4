import fs from 'node:fs';
import path from 'node:path';
import { type Backend, type CallerPath, isFenceError, type Refusal, Root } from '../../fence/index.ts';
import { type Capability, CONFIRMABLE_CAPABILITIES, READING_CAPABILITIES } from '../../tools/capabilities.ts';
import { allowedOn, type Config, type LocalRootConfig } from '../config.ts';
import { guardRulesOf } from '../guard-rules.ts';
import { type Decision, refused, refusedBy, rootKey } from './decision.ts';

/** What holds for a host path in one of the roots that it is in. */
export interface ExplainedPath {
  readonly root: string;
  /** From the top of the root; `.` for the top itself. */
  readonly path: string;
  /** Where the path leads in the root, if a link is on the way. */
  readonly leadsTo?: string;
  readonly exists: boolean;
  readonly isFolder: boolean;
  readonly reading: Decision;
  readonly changing: Decision;
  /** What the tokens for this root allow there. */
  readonly tokens: readonly { readonly name: string; readonly read: boolean; readonly change: boolean }[];
}

/** What holds for every client. */
type InRoot = Omit<ExplainedPath, 'tokens'>;

/**
 * Says what holds for a host path in each root that it is in, by its names or where links lead. None if it is outside of
 * all roots. Looks it up in the fence, so that links count as they do for a client.
 */
export function explainPath(hostPath: string, config: Config, backend: Backend): ExplainedPath[] {
  return config.roots.flatMap((configured) => {
    if (configured.path === undefined) return [];
    using root = Root.open(configured.name, configured.path, backend, guardRulesOf(configured, config));
    const host = path.resolve(hostPath);
    const written = pathIn(root, host) ?? pathIn(root, realPath(host));
    if (written === undefined) return [];
    const explained = explainIn(root, written, configured);
    return [{ ...explained, tokens: tokensOf(explained, config) }];
  });
}

function pathIn(root: Root, host: string): string | undefined {
  const isWhole = root.share().real === path.parse(host).root;
  return isWhole ? host.slice(path.parse(host).root.length) || '.' : root.fromHostPath(host);
}

function explainIn(root: Root, written: string, configured: LocalRootConfig): InRoot {
  const facts = { root: root.name, path: written, isFolder: false };
  const both = (decision: Decision) => ({ reading: decision, changing: decision });
  let parsed: CallerPath;
  try {
    parsed = root.parse(written);
  } catch (error) {
    if (!isFenceError(error, 'invalid_path')) throw error;
    return { ...facts, exists: false, ...both(refused('reserved', { origin: 'a name that the server writes to' })) };
  }
  const found = locate(root.withoutRules(), parsed);
  if ('refusal' in found) return { ...facts, exists: false, ...both(refused(found.refusal)) };
  const { exists, isFolder, leadsTo } = found;
  const spellings = leadsTo === undefined ? [parsed] : [parsed, root.parse(leadsTo)];
  const first = (rule: (at: CallerPath) => Refusal | undefined): Refusal | undefined => {
    for (const at of spellings) {
      const refusal = rule(at);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
  const hiding = first((at) => root.hides(at, isFolder));
  // What exists is looked up: whether another spelling of a name is the same depends on the file system.
  const isHidden = exists ? !isVisible(root, parsed) : hiding !== undefined;
  const seen = { ...facts, exists, isFolder, ...(leadsTo !== undefined && { leadsTo }) };
  if (isHidden && hiding !== undefined) return { ...seen, ...both(refusedBy(hiding, configured)) };
  const keeping = first((at) => root.explain(at, isFolder));
  return {
    ...seen,
    reading: allowedBy(configured, READING_CAPABILITIES),
    changing: keeping === undefined ? allowedBy(configured, CONFIRMABLE_CAPABILITIES) : refusedBy(keeping, configured),
  };
}

function tokensOf({ root, reading, changing }: InRoot, { auth }: Config): ExplainedPath['tokens'] {
  return (auth?.tokens ?? []).flatMap(({ name, roots, tools }) => {
    if (!roots.includes(root)) return [];
    const may = (decision: Decision): boolean => decision.tools.some((tool) => tools?.includes(tool) ?? true);
    return [{ name, read: may(reading), change: may(changing) }];
  });
}

function allowedBy(root: LocalRootConfig, capabilities: readonly Capability[]): Decision {
  const tools = allowedOn(root).filter((tool) => capabilities.includes(tool));
  const key = rootKey(root);
  const origin = key === undefined ? {} : { origin: `${key}.allowed_tools` };
  if (tools.length === 0) return refused('allowed_tools', origin);
  return {
    allowed: true,
    rule: 'allowed',
    ...origin,
    tools,
    confirm: tools.filter((tool) => root.confirm?.includes(tool)),
  };
}

type Found =
  | { readonly exists: boolean; readonly isFolder: boolean; readonly leadsTo?: string }
  | { readonly refusal: 'link_leads_out' | 'unreachable' };

function locate(root: Root, at: CallerPath): Found {
  try {
    using found = root.locate(at, { follow: true });
    const isLinked = found.path !== at.segments.join('/') && at.segments.length > 0;
    return {
      exists: found.stats !== undefined,
      isFolder: found.stats?.isDirectory() ?? false,
      ...(isLinked && { leadsTo: found.path }),
    };
  } catch (error) {
    if (isFenceError(error, 'outside_root')) return { refusal: 'link_leads_out' };
    if (isFenceError(error, 'not_found', 'not_directory')) return { exists: false, isFolder: false };
    if (isFenceError(error, 'link_loop', 'permission_denied', 'name_too_long', 'invalid_path'))
      return { refusal: 'unreachable' };
    throw error;
  }
}

function isVisible(root: Root, at: CallerPath): boolean {
  try {
    using found = root.locate(at, { follow: true });
    return found.stats !== undefined;
  } catch {
    return false;
  }
}

/** Returns where a host path leads, as far as it exists. */
function realPath(hostPath: string): string {
  try {
    return fs.realpathSync.native(hostPath);
  } catch {
    const parent = path.dirname(hostPath);
    return parent === hostPath ? hostPath : path.join(realPath(parent), path.basename(hostPath));
  }
}
