import { explainPath } from '../../config/explain/explain-path.ts';
import { fenceFromEnvironment } from '../../config/fence-from-environment.ts';
import { chosenConfig } from '../../config/file/chosen-config.ts';
import { fakeSecrets } from '../../config/file/fake-secrets.ts';
import { Output } from '../terminal/output.ts';
import type { LoadDialect } from './access.ts';
import { checkedConfig } from './checked-config.ts';
import { showPath } from './show-path.ts';
import { showTables } from './show-tables.ts';
import { warningsOf } from './warnings.ts';

/** The options of `ringfence check`. */
export interface CheckFlags {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
}

/** Shows what a config allows, or what holds for one path. Raises `ConfigError`. */
export async function check(hostPath: string | undefined, flags: CheckFlags, loadDialect: LoadDialect): Promise<void> {
  const output = new Output();
  const unset = new Set<string>();
  const secrets = fakeSecrets(process.env, (name) => unset.add(name));
  const config = await chosenConfig(flags.config, flags.root ?? [], secrets);
  const warnings = warningsOf(config, [...unset]);
  if (hostPath === undefined) {
    const checked = await checkedConfig(config, { warnings, loadDialect });
    if (flags.json) output.json(checked);
    else showTables(output, checked);
  } else {
    const roots = explainPath(hostPath, config, fenceFromEnvironment());
    if (flags.json) output.json({ path: hostPath, roots });
    else showPath(output, { hostPath, roots, config });
  }
  await output.flushed();
}
