import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const DIST = new URL('../../dist/', import.meta.url);

/** Operations that a child's script can use without importing them. */
const OPERATIONS: Readonly<Record<string, string>> = {
  writeFile: 'files/write/write-file',
  patchFile: 'files/edit/patch-file',
  removeFile: 'files/remove/remove-file',
  removeFolder: 'files/remove/remove-folder',
  copy: 'files/copy/copy',
  move: 'files/copy/move',
  listFolder: 'files/list/list-folder',
  sweepLeftovers: 'files/sweep/sweep-leftovers',
};

/** What goes before a child's script: the operations that it names, a root on its folder, and a way to answer. */
function prelude(script: string): string {
  const used = Object.entries(OPERATIONS).filter(([name]) => script.includes(name));
  const imports = used.map(([name, file]) => `const { ${name} } = await from('${file}.js');`);
  return `
const from = (file) => import(new URL(file, ${JSON.stringify(DIST.href)}).href);
const { Root, parseCallerPath: path, chooseBackend } = await from('fence/index.js');
const { DEFAULT_CONTEXT } = await from('runtime/operation-context.js');
${imports.join('\n')}
const [folder, ...args] = process.argv.slice(1);
const root = Root.open('workspace', folder, chooseBackend(process.env.RINGFENCE_FENCE || undefined));
const at = (raw) => ({ root, path: path(raw) });
const outcome = async (work) => { try { await work; return 'ok'; } catch (e) { return e.code ?? String(e.stack); } };
const answer = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
`;
}

export interface ChildOptions {
  readonly folder: string;
  readonly args?: readonly string[];
  /** Run as nobody, who owns nothing and may override no permission. */
  readonly unprivileged?: boolean;
  /** Groups that nobody is in besides its own. */
  readonly groups?: readonly number[];
  readonly fence?: string;
}

/** Starts another process that runs a script (the body of a module) on what is in dist/. */
export function startChild(script: string, options: ChildOptions): ChildProcess {
  const { folder, args = [], unprivileged = false, groups = [], fence = '' } = options;
  const node = [process.execPath, '--input-type=module', '-e', prelude(script) + script, folder, ...args];
  const drop = [
    'setpriv',
    '--reuid=65534',
    '--regid=65534',
    groups.length > 0 ? `--groups=${groups}` : '--clear-groups',
  ];
  const [command = '', ...rest] = unprivileged ? [...drop, ...node] : node;
  return spawn(command, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, RINGFENCE_FENCE: fence },
  });
}

/** Runs a child to its end and returns what it answered. */
export async function runChild<T>(script: string, options: ChildOptions): Promise<T> {
  const child = startChild(script, options);
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`the child ended with ${status}`);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

/** Why tests that drop privileges cannot run here, if they cannot. */
export const cannotDropPrivileges: string | undefined =
  process.platform !== 'linux' ? 'needs Linux' : process.getuid?.() !== 0 ? 'needs to start as root' : undefined;
