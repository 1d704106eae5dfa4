import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const DIST = new URL('../../dist/', import.meta.url);

/** The code before a child's script: the operations of `ringfence/fence`, a root on its folder, and a way to answer. */
const PRELUDE = `
const from = (file) => import(new URL(file, ${JSON.stringify(DIST.href)}).href);
const { Root, parseCallerPath: path, chooseBackend } = await from('fence.js');
const { writeFile, patchFile, removeFile, removeFolder, copy, move, listFolder, sweepLeftovers } = await from('fence.js');
const { DEFAULT_CONTEXT } = await from('runtime/operation-context.js');
const [folder, ...args] = process.argv.slice(1);
const root = Root.open('workspace', folder, chooseBackend(process.env.RINGFENCE_FENCE || undefined));
const at = (raw) => ({ root, path: path(raw) });
const outcome = async (work) => { try { await work; return 'ok'; } catch (e) { return e.code ?? String(e.stack); } };
const answer = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
`;

export interface ChildOptions {
  readonly folder: string;
  readonly args?: readonly string[];
  /** Run as nobody, who owns nothing and may override no permission. */
  readonly unprivileged?: boolean;
  /** Groups that nobody is in besides its own. */
  readonly groups?: readonly number[];
  readonly fence?: string;
  /** Run in a PID namespace of its own, as in a container that shares the folder. Needs root. */
  readonly pidNamespace?: boolean;
}

/** Starts a process that runs a script, the body of a module, with the modules of dist/. */
export function startChild(script: string, options: ChildOptions): ChildProcess {
  const { folder, args = [], unprivileged = false, groups = [], fence = '', pidNamespace = false } = options;
  const node = [process.execPath, '--input-type=module', '-e', PRELUDE + script, folder, ...args];
  const dropped = unprivileged ? asNobody(node, groups) : node;
  const [command = '', ...rest] = pidNamespace ? [...NEW_PID_NAMESPACE, ...dropped] : dropped;
  return spawn(command, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, RINGFENCE_FENCE: fence },
  });
}

const NEW_PID_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Runs a script in a process to its end and returns the value that it passed to `answer`. */
export async function runChild<T>(script: string, options: ChildOptions): Promise<T> {
  const child = startChild(script, options);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`the child ended with ${status}`);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

/** Returns the command line that runs another as nobody, who is in these groups only. */
export function asNobody(command: readonly string[], groups: readonly number[] = []): string[] {
  const grouped = groups.length > 0 ? `--groups=${groups}` : '--clear-groups';
  return ['setpriv', '--reuid=65534', '--regid=65534', grouped, ...command];
}

/** The reason why tests that drop privileges cannot run here; undefined if they can. */
export const cannotDropPrivileges: string | undefined =
  process.platform !== 'linux' ? 'needs Linux' : process.getuid?.() !== 0 ? 'needs to start as root' : undefined;
