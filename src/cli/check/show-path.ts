import type { Config } from '../../config/config.ts';
import type { DecidingRule, Decision } from '../../config/explain/decision.ts';
import type { ExplainedPath } from '../../config/explain/explain-path.ts';
import { printable } from '../../runtime/printable.ts';
import type { Output } from '../terminal/output.ts';

const REASONS: Readonly<Record<DecidingRule, string>> = {
  allowed: 'by',
  allowed_tools: 'the root allows no tool for it',
  read_only: 'the root is read-only',
  deny: 'it does not exist for clients: deny',
  protect: 'it may be read, not changed: protect',
  own_file: 'no client may change a file of the server itself:',
  reserved: 'the server keeps this name for itself',
  link_leads_out: 'a link on the way leads out of the root',
  unreachable: 'the path cannot be followed: a circle of links, or no permission',
};

const FOLDER_NOTE = 'It cannot be moved or removed while it holds something that is denied or protected.';

/** What is printed about one path. */
export interface ShownPath {
  readonly hostPath: string;
  readonly roots: readonly ExplainedPath[];
  readonly config: Config;
}

/** Prints which rule decides about a path, in each root that it is in. */
export function showPath(output: Output, { hostPath, roots, config }: ShownPath): void {
  output.line(output.style('bold', printable(hostPath)));
  if (roots.length === 0) output.line('  outside of all roots: no tool reaches it');
  for (const { root, path, leadsTo, exists, isFolder, reading, changing, tokens } of roots) {
    const notes = [
      ...(leadsTo === undefined ? [] : [`a link to ${printable(leadsTo)}`]),
      ...(exists ? [] : ['not there now']),
    ];
    const note = notes.length === 0 ? '' : `  (${notes.join('; ')})`;
    output.line(`  in root ${root} as ${printable(path)}${output.style('dim', note)}`);
    const show = (word: string, decision: Decision): void =>
      output.line(
        `    ${word}  ${output.style(decision.allowed ? 'green' : 'red', decision.allowed ? 'yes' : 'no ')}  ${reason(decision, config)}`,
      );
    show('read  ', reading);
    show('change', changing);
    if (isFolder && changing.allowed) output.line(output.style('dim', `    ${FOLDER_NOTE}`));
    for (const { name, read, change } of tokens) {
      const may = [...(read ? ['read'] : []), ...(change ? ['change'] : [])];
      output.line(`    token ${name} may ${may.join(' and ') || 'do nothing with'} it`);
    }
  }
}

function reason({ allowed, rule, pattern, origin, tools, confirm }: Decision, { file }: Config): string {
  const key = origin?.startsWith('roots[') && file !== undefined ? `${printable(file)}: ${origin}` : origin;
  if (allowed) {
    const asks = confirm.length === 0 ? '' : `; a person is asked first about ${confirm.join(', ')}`;
    return `${REASONS.allowed} ${tools.join(', ')}${asks}`;
  }
  const shown = pattern === undefined ? '' : ` ${JSON.stringify(pattern)}`;
  return `${REASONS[rule]}${shown}${key === undefined ? '' : ` (${key})`}`;
}
