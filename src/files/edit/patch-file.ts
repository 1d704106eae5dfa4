import type { CallerPath, Root } from '../../fence/index.ts';
import { type RewriteOptions, rewriteFile } from './rewrite-file.ts';

/**
 * Applies a unified diff to a file, all of it or nothing; a missing file counts as empty. Raises
 * `patch_failed`, `invalid_encoding`, and what `rewriteFile` raises.
 */
export async function patchFile(
  root: Root,
  path: CallerPath,
  patch: string,
  options: RewriteOptions,
): Promise<{ hunksApplied: number }> {
  const { result } = await rewriteFile(root, path, { kind: 'patch', patch }, options);
  return result;
}
