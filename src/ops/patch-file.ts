import type { CallerPath, Root } from '../fence/index.ts';
import { applyPatch } from './patch/apply-patch.ts';
import { rewriteFile } from './rewrite-file.ts';

/** Applies a unified diff to a file, all of it or nothing; a missing file counts as empty. Raises `patch_failed`, `invalid_encoding`. */
export async function patchFile(
  root: Root,
  path: CallerPath,
  patch: string,
  { durable }: { durable: boolean },
): Promise<{ hunksApplied: number }> {
  const change = (original = Buffer.alloc(0)) => {
    const { content, hunksApplied } = applyPatch(original, patch);
    return { content, result: { hunksApplied } };
  };
  return rewriteFile(root, path, { durable, change });
}
