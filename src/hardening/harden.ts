import { type Config, LANDLOCK_MODES, type LandlockMode } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { didYouMean } from '../tools/nearest.ts';
import { LandlockError, type LandlockPolicy, type LandlockStatus, restrictProcess } from './landlock.ts';
import { landlockPolicy, parentPolicy } from './policy.ts';

/** What is enforced, for the log and the banner; a text says why nothing is. */
export type Hardening = LandlockStatus | string;

/**
 * Limits this process to what its config needs, as far as `hardening.landlock` says so. Call it once, before any worker
 * thread is started and any request is read. Raises `ConfigError` if that is required and not possible.
 */
export function harden(config: Config, options: { readonly listens: boolean }): Promise<Hardening> {
  return restrictTo(() => landlockPolicy(config, options), config);
}

/** Limits this process to what the parent of servers needs, as `harden` does. Call it once the port is open. */
export function hardenParent(config: Config): Promise<Hardening> {
  return restrictTo(() => parentPolicy(config), config);
}

async function restrictTo(policy: () => LandlockPolicy, config: Config): Promise<Hardening> {
  const { mode, origin } = landlockMode(config);
  if (mode === 'off') return 'off';
  try {
    return await restrictProcess(policy());
  } catch (error) {
    if (!(error instanceof LandlockError)) throw error;
    if (mode === 'auto') return `not enforced: ${error.message}`;
    throw new ConfigError(`${origin}: Landlock is required but not enforced: ${error.message}; auto starts without it`);
  }
}

/**
 * Returns the mode and where the operator wrote it: in the config file, else in the environment variable
 * `RINGFENCE_LANDLOCK`.
 */
export function landlockMode({ file, landlock }: Config): { readonly mode: LandlockMode; readonly origin: string } {
  if (landlock !== undefined) return { mode: landlock, origin: `${file}: hardening.landlock` };
  const origin = 'RINGFENCE_LANDLOCK';
  const written = process.env[origin] || 'auto';
  const mode = LANDLOCK_MODES.find((name) => name === written);
  if (mode !== undefined) return { mode, origin };
  const hint = didYouMean(written, LANDLOCK_MODES);
  throw new ConfigError(`${origin}: must be one of ${LANDLOCK_MODES.join(', ')}, got "${written}"${hint}`);
}
