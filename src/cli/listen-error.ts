import type { Config } from '../config/config.ts';

/**
 * The error for an address that the server cannot listen on. The message is one line that names the flag or key to
 * change.
 */
export class ListenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListenError';
  }
}

/** What the command line says about where to listen. */
export interface ListenFlags {
  readonly host?: string;
  readonly port?: string;
}

/** Attempts to listen. Raises `ListenError`, which names the flag or config key that set the address or port. */
export async function listenAt<T>(
  { file, host, port }: Config,
  flags: ListenFlags,
  attempt: () => Promise<T>,
): Promise<T> {
  const written = (key: 'host' | 'port'): string =>
    flags[key] !== undefined || file === undefined ? `--${key}` : `${file}: ${key}`;
  try {
    return await attempt();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ListenError(
        `${written('port')}: port ${port} on ${host} is already in use; stop what uses it or choose another`,
      );
    }
    if (code === 'EACCES') {
      throw new ListenError(`${written('port')}: permission denied for port ${port} on ${host}; choose one above 1023`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new ListenError(
        `${written('host')}: ${host} is not an address of this machine; correct it, or use 127.0.0.1`,
      );
    }
    if (code === undefined) throw error;
    throw new ListenError(`${written('port')}: cannot listen on ${host}, port ${port}: ${code}`);
  }
}
