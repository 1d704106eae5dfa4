import type { Config } from './config.ts';
import { DEFAULTS } from './limits.ts';

/** What holds where no config file says otherwise: reachable from this machine only. The roots are still missing. */
export function defaultConfig(): Omit<Config, 'roots'> {
  return {
    ...DEFAULTS,
    file: undefined,
    host: '127.0.0.1',
    auth: undefined,
    dialects: [{ name: 'workspace', root: undefined }],
  };
}
