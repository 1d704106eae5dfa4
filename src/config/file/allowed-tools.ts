import { CAPABILITIES, type Capability } from '../../tools/capabilities.ts';
import { didYouMean } from '../../tools/nearest.ts';

type FailFor = (problem: (root: string) => string) => never;

/**
 * Returns the capabilities for one entry of `allowed_tools`, or of the `tools` of a token. `all` are those that can be
 * allowed there.
 */
export function toCapabilities(tool: string, all: readonly Capability[], fail: FailFor): readonly Capability[] {
  if (tool === '*') return all;
  const known = CAPABILITIES.find((name) => name === tool);
  if (known !== undefined && all.includes(known)) return [known];
  const names = `"*", ${all.join(', ')}`;
  if (known !== undefined) {
    return fail(
      (root) =>
        `${known} cannot be allowed on root "${root}", whose files are on the client's side; what can be is ${names}`,
    );
  }
  return fail(() => `unknown tool "${tool}"${didYouMean(tool, all)}; known are ${names}`);
}
