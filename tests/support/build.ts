import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Vitest's global set-up. Builds dist/, which end-to-end tests and worker threads run. */
export default function build(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/build.js', import.meta.url))], {
    stdio: 'inherit',
  });
}
