import { HttpChannel } from '../../client/http-channel.ts';
import type { DialectName } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { mountPath } from '../../config/mount-path.ts';
import { printable } from '../../runtime/printable.ts';
import { isLoopbackAddress } from '../../server/http/access-control.ts';
import { printNote } from '../terminal/output.ts';

/**
 * Returns the connection to a server at an address. One without a path leads to that of the dialect. The token is that
 * of `RINGFENCE_TOKEN`. Raises `ConfigError`.
 */
export function openHttpChannel(
  address: string,
  dialect: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): HttpChannel {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(`--url: must be an address such as http://127.0.0.1:8091/mcp, got "${printable(address)}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError('--url: has a user name or a password; set RINGFENCE_TOKEN to the token instead');
  }
  if (url.pathname === '/') url.pathname = mountPath((dialect ?? 'workspace') as DialectName);
  else if (dialect !== undefined) {
    throw new ConfigError(`--dialect: the address says which dialect it is; give --url ${url.origin} to choose one`);
  }
  const token = env.RINGFENCE_TOKEN || undefined;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new ConfigError('RINGFENCE_TOKEN: holds what no header can carry; a token has no spaces or line breaks');
  }
  if (token !== undefined && url.protocol === 'http:' && !isLoopbackAddress(url.hostname)) {
    printNote('ringfence: the token is sent without encryption; use https where others can listen');
  }
  return new HttpChannel(url, token);
}
