import { createContext, Script } from 'node:vm';

const SCRIPT = new Script('run()');

/**
 * Runs a function, and interrupts it when the time is over, wherever it is. Returns whether it has finished; what it raises is
 * passed on. The function must not hold anything that it has to give back, since an interrupted one runs no `finally`.
 *
 * It is a watchdog of Node (https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options), which takes
 * about a millisecond to set up.
 */
export function finishesWithin(ms: number, run: () => void): boolean {
  try {
    SCRIPT.runInContext(createContext({ run }), { timeout: ms });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  }
}
