import { BACKEND_NAMES, type Backend, type BackendName, chooseBackend } from '../fence/index.ts';
import { didYouMean } from '../tools/nearest.ts';
import { ConfigError } from './config-error.ts';

/**
 * Returns the fence backend that the environment variable `RINGFENCE_FENCE` names, by default the strongest that works
 * on this machine. Raises `ConfigError` for an unknown name and for a backend that does not work here.
 */
export function fenceFromEnvironment(env: NodeJS.ProcessEnv = process.env): Backend {
  const forced = env.RINGFENCE_FENCE;
  if (forced === undefined || forced === '') return chooseBackend();
  if (!isBackendName(forced)) {
    const hint = didYouMean(forced, BACKEND_NAMES);
    throw new ConfigError(`RINGFENCE_FENCE: must be one of ${BACKEND_NAMES.join(', ')}, got "${forced}"${hint}`);
  }
  try {
    return chooseBackend(forced);
  } catch (error) {
    throw new ConfigError(`RINGFENCE_FENCE: ${(error as Error).message}; unset it to use what works here`);
  }
}

function isBackendName(name: string): name is BackendName {
  return (BACKEND_NAMES as readonly string[]).includes(name);
}
