import { runToEnd } from '../clients/child.js';

export const SHA256SUM = 'sha256sum';

/** The time from spawn to end, and the hash in hex. */
export async function sha256sum(file) {
  const { ms, output } = await runToEnd('sha256sum', [file]);
  return { ms, hash: output.toString().split(' ')[0] };
}
