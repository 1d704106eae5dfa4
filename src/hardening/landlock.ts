import fs from 'node:fs';
import { type Koffi, loadKoffi, type NativeFunction, type NativeLibrary } from '../runtime/koffi.ts';
import { onEachPoolThread, onPoolThread } from './pool-threads.ts';

/**
 * A file, or a folder with everything below it, and what may be done there. `write` includes `read`; `open` reads files
 * whose names are known; `append` creates files and writes to them, but reads, cuts and removes none; `execute` reads
 * and runs a program.
 */
export interface PathRule {
  readonly path: string;
  readonly access: 'read' | 'write' | 'open' | 'append' | 'execute';
}

/** What a process may still do once it is restricted. */
export interface LandlockPolicy {
  /** Paths that do not exist are left out. */
  readonly paths: readonly PathRule[];
  /** The TCP port to listen on, 0 for any free one; undefined for none. */
  readonly port: number | undefined;
  /** The TCP port to connect to, on any machine; undefined for none. */
  readonly connectPort?: number | undefined;
}

/** What the kernel enforces. */
export interface LandlockStatus {
  /** The version of the kernel's interface. */
  readonly abi: number;
  /** The number of rules: one for each path and port. */
  readonly rules: number;
  /** Whether TCP is restricted too. */
  readonly network: boolean;
}

/**
 * The error for a system on which a process cannot be restricted. The message completes "Landlock is not enforced: …".
 */
export class LandlockError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LandlockError';
  }
}

/** The system calls have the same numbers on x64 and arm64. */
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;
const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
const RULE_NET_PORT = 2;
const PR_SET_NO_NEW_PRIVS = 38;
const O_PATH = 0o10000000;

const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const TRUNCATE = 1n << 14n;
/** Making devices is not among them. */
const CHANGE_DIR = [4, 5, 7, 8, 9, 10, 12, 13].reduce((bits, bit) => bits | (1n << BigInt(bit)), 0n);
const FILE_ACCESS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
const MAKE_REG = 1n << 8n;
const ACCESS = {
  read: READ_FILE | READ_DIR,
  write: READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | CHANGE_DIR,
  open: READ_FILE,
  append: WRITE_FILE | MAKE_REG,
  execute: READ_FILE | EXECUTE,
} satisfies Record<PathRule['access'], bigint>;

const BIND_TCP = 1n << 0n;
const CONNECT_TCP = 1n << 1n;
/** Abstract UNIX sockets, and signals to processes outside. */
const SCOPES = 0b11n;

/** The number of access rights to files that each version of the interface knows. */
const FS_RIGHTS: Readonly<Record<number, bigint>> = { 2: 14n, 3: 15n, 4: 15n, 5: 16n };
/** Version 1 refuses every rename from one folder to another. */
const MIN_ABI = 2;
const NET_ABI = 4;
const NEWEST_FS_ABI = 5;
const SCOPE_ABI = 6;

/**
 * Limits this process to a policy by Landlock (https://docs.kernel.org/userspace-api/landlock.html), for good: the
 * calling thread, libuv's pool, and all threads and processes that are started later. V8's own threads, which run no
 * script and open no file, are not limited, nor are descriptors that are open already. The kernel checks opening,
 * creating, renaming, removing and truncating, but not stat, chmod, chown or utimes. Raises `LandlockError` where the
 * system cannot do it.
 */
export async function restrictProcess({ paths, port, connectPort }: LandlockPolicy): Promise<LandlockStatus> {
  const { libc, koffi } = loadLibc();
  const calls = bind(libc);
  const abi = Number(calls.create(CREATE_RULESET, null, 0, CREATE_RULESET_VERSION));
  if (abi < 0) throw new LandlockError(`the kernel does not offer it (errno ${koffi.errno()})`);
  // Through a ring that was made before, the kernel opens files with the rights of that time.
  if (Number.parseInt(process.env.UV_USE_IO_URING ?? '0', 10)) throw new LandlockError('unset UV_USE_IO_URING first');
  if (abi < MIN_ABI) throw new LandlockError('Linux 5.19 or newer is needed, which lets files move between folders');

  const network = abi >= NET_ABI;
  const handled = (1n << (FS_RIGHTS[Math.min(abi, NEWEST_FS_ABI)] ?? 0n)) - 1n;
  const attributes = BigUint64Array.of(handled, BIND_TCP | CONNECT_TCP, SCOPES);
  const size = 8 * (abi >= SCOPE_ABI ? 3 : network ? 2 : 1);
  const ruleset = Number(calls.create(CREATE_RULESET, attributes, size, 0));
  if (ruleset < 0) throw new LandlockError(`no ruleset (errno ${koffi.errno()})`);
  try {
    let rules = 0;
    const add = (type: number, rule: ArrayBufferView): void => {
      if (Number(calls.add(ADD_RULE, ruleset, type, rule, 0)) !== 0) {
        throw new LandlockError(`a rule was refused (errno ${koffi.errno()})`);
      }
      rules += 1;
    };
    for (const { path, access } of paths) {
      const rule = pathRule(path, ACCESS[access] & handled);
      if (rule !== undefined) add(RULE_PATH_BENEATH, rule);
    }
    if (network && port !== undefined) add(RULE_NET_PORT, BigUint64Array.of(BIND_TCP, BigInt(port)));
    if (network && connectPort !== undefined) add(RULE_NET_PORT, BigUint64Array.of(CONNECT_TCP, BigInt(connectPort)));
    await restrictThreads(libc, calls, ruleset);
    return { abi, rules, network };
  } finally {
    fs.closeSync(ruleset);
  }
}

function loadLibc(): { koffi: Koffi; libc: NativeLibrary } {
  if (process.platform !== 'linux') throw new LandlockError('only Linux has it');
  try {
    const koffi = loadKoffi();
    return { koffi, libc: koffi.load(null) };
  } catch {
    throw new LandlockError('the koffi binary for this platform is not installed');
  }
}

interface Calls {
  readonly create: NativeFunction;
  readonly add: NativeFunction;
  readonly restrict: NativeFunction;
  readonly prctl: NativeFunction;
}

function bind(libc: NativeLibrary): Calls {
  return {
    create: libc.func('long syscall(long number, const void *attributes, size_t size, uint32_t flags)'),
    add: libc.func('long syscall(long number, int ruleset, int type, const void *rule, uint32_t flags)'),
    restrict: libc.func('long syscall(long number, int ruleset, uint32_t flags)'),
    prctl: libc.func('int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)'),
  };
}

/** Encodes a `struct landlock_path_beneath_attr`, which is packed. Undefined for a path that cannot be opened. */
function pathRule(path: string, access: bigint): Buffer | undefined {
  let fd: number;
  try {
    // The descriptor stays open. A rule belongs to an inode, and procfs and overlayfs make a new one once nobody uses
    // the old one.
    fd = fs.openSync(path, O_PATH);
  } catch {
    return undefined;
  }
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(fs.fstatSync(fd).isDirectory() ? access : access & FILE_ACCESS, 0);
  rule.writeInt32LE(fd, 8);
  return rule;
}

/**
 * Restricts libuv's pool, which an ECMAScript module finds running already, and this thread. Others inherit it from
 * this one.
 */
async function restrictThreads(libc: NativeLibrary, { prctl, restrict }: Calls, ruleset: number): Promise<void> {
  const restrictSelf = [
    [prctl, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0]],
    [restrict, [RESTRICT_SELF, ruleset, 0]],
  ] as const;
  await onEachPoolThread(libc, () =>
    restrictSelf.map(([call, args]) => onPoolThread(call, ...args).then(assertDone)),
  ).catch((error: Error) => {
    throw error instanceof LandlockError ? error : new LandlockError(error.message);
  });
  for (const [call, args] of restrictSelf) assertDone(Number(call(...args)));
}

function assertDone(result: number): void {
  if (result !== 0) throw new LandlockError('the kernel refused to restrict a thread');
}
