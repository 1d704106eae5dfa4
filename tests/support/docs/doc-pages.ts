import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the repository. */
export const TOP = fileURLToPath(new URL('../../../', import.meta.url));

/** Every page of the documentation, from the top of the repository. */
export const PAGES: readonly string[] = [
  'README.md',
  'CLAUDE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...markdownBelow('.agent_docs'),
  ...markdownBelow('docs'),
  ...markdownBelow('src'),
];

/** A fenced block of a page. */
export interface Block {
  readonly kind: 'block';
  readonly line: number;
  /** `sh` of a block that begins with three backticks and sh; empty if it names none. */
  readonly language: string;
  readonly text: string;
  /** What the comment `<!-- test: … -->` right before it says. */
  readonly note: string | undefined;
}

/** A comment for the tests alone: `setup` with shell lines, or `agent CLIENT` with the calls that the agent makes. */
export interface Directive {
  readonly kind: 'directive';
  readonly line: number;
  readonly name: 'setup' | 'agent';
  readonly argument: string;
  readonly text: string;
}

export type Item = Block | Directive;

const ITEMS = new RegExp(
  [
    // A directive is a comment of several lines, `<!-- test setup` or `<!-- test agent cursor`.
    /^<!-- test (?<name>setup|agent)(?: (?<argument>\S+))?\n(?<body>[\s\S]*?)^-->$/.source,
    // A block, with its note on the line before it or on the one before an empty line.
    /(?:^ *<!-- test: (?<note>[^\n]+) -->\n\s*)?^(?<indent> *)```(?<language>\w*)\n(?<text>[\s\S]*?)^ *```$/.source,
  ].join('|'),
  'gm',
);

/** Returns the blocks and directives of a page in their order. */
export function itemsOf(markdown: string): Item[] {
  return [...markdown.matchAll(ITEMS)].map(({ index, groups = {} }) => {
    const { name, argument = '', body = '', note, language = '', indent = '', text = '' } = groups;
    const lineAt = (offset: number): number => markdown.slice(0, offset).split('\n').length;
    if (name !== undefined) {
      return { kind: 'directive', line: lineAt(index), name: name as Directive['name'], argument, text: body };
    }
    const line = lineAt(markdown.indexOf('```', index));
    return { kind: 'block', line, language, note, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
  });
}

/** Returns the text of a page. */
export function pageText(page: string): string {
  return fs.readFileSync(path.join(TOP, page), 'utf8');
}

function markdownBelow(folder: string): string[] {
  return fs
    .readdirSync(path.join(TOP, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .sort();
}
