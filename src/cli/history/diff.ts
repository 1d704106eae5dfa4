import { differences, sortForReview } from '../../review/index.ts';
import { Output } from '../terminal/output.ts';
import { assertChosen, choose, readArguments } from './chosen-changes.ts';
import { diffJson, showDiff } from './show-diff.ts';
import { openTargets } from './targets.ts';

/** The options of `ringfence diff`. */
export interface DiffFlags {
  readonly config?: string;
  readonly since?: string;
  readonly json?: boolean;
}

/** Shows what changes did, as a unified diff. Raises `ConfigError` and `CommandError`. */
export async function diff(words: readonly string[], flags: DiffFlags): Promise<void> {
  const written = readArguments(words, flags);
  assertChosen(written, flags, ['since']);
  const output = new Output();
  using targets = await openTargets(written.root, flags.config);
  const entries = choose(targets.all, written, flags).flatMap(({ target, changes }) =>
    sortForReview(differences(target.history, changes, target.path).map((entry) => ({ target, diff: entry }))),
  );
  if (flags.json) output.json(entries.map(({ target, diff: entry }) => diffJson(target.name, entry)));
  else for (const { diff: entry } of entries) showDiff(output, entry);
  await output.flushed();
}
