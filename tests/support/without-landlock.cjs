// Runs ringfence as on a kernel without Landlock: a seccomp filter answers ENOSYS to its system calls, and execve(2) keeps it.
const path = require('node:path');

const PR_SET_NO_NEW_PRIVS = 38;
const PR_SET_SECCOMP = 22;
const SECCOMP_MODE_FILTER = 2;
const [LOAD, JUMP_IF_GREATER_OR_EQUAL, RETURN] = [0x20, 0x35, 0x06];
const [ALLOW, REFUSE_WITH_ENOSYS] = [0x7fff0000, 0x00050026];
const [LANDLOCK_FIRST, AFTER_LANDLOCK] = [444, 447];

const koffi = require(`@koromix/koffi-linux-${process.arch}`);
const libc = koffi.load(null);

/** Encodes a `struct sock_filter`. */
function instruction(code, ifTrue, ifFalse, value) {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

const filter = Buffer.concat([
  instruction(LOAD, 0, 0, 0),
  instruction(JUMP_IF_GREATER_OR_EQUAL, 0, 2, LANDLOCK_FIRST),
  instruction(JUMP_IF_GREATER_OR_EQUAL, 1, 0, AFTER_LANDLOCK),
  instruction(RETURN, 0, 0, REFUSE_WITH_ENOSYS),
  instruction(RETURN, 0, 0, ALLOW),
]);
const program = Buffer.alloc(16);
program.writeUInt16LE(filter.length / 8, 0);
program.writeBigUInt64LE(BigInt(koffi.address(filter)), 8);

const prctl = libc.func('int prctl(int option, unsigned long a, const void *b, unsigned long c, unsigned long d)');
const fcntl = libc.func('int fcntl(int fd, int command, int argument)');
const execv = libc.func('int execv(const char *path, const char **arguments)');
if (prctl(PR_SET_NO_NEW_PRIVS, 1, null, 0, 0) !== 0) throw new Error('no_new_privs');
if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) !== 0) throw new Error('seccomp');
// Node sets this flag on descriptors that are inherited.
for (const fd of [0, 1, 2]) fcntl(fd, 2, 0);
const bin = path.join(__dirname, '../../dist/bin.js');
execv(process.execPath, [process.execPath, bin, ...process.argv.slice(2), null]);
throw new Error('execv');
