import type { ComponentChildren } from 'preact';
import type { FileDiff, Hunk } from '../data/api-types.ts';
import { plural } from './format.ts';

const STATUS = { added: 'Added', removed: 'Removed', changed: 'Changed', moved: 'Moved' } as const;

const HIDDEN = {
  binary: 'Not text: its lines cannot be shown.',
  large: 'Too long to be shown here.',
  lost: 'What was there is no longer kept.',
} as const;

interface DiffProps {
  readonly file: FileDiff;
  /** Buttons for the whole file. */
  readonly actions?: ComponentChildren;
  /** Buttons for one of its hunks. */
  readonly hunkActions?: (hunk: Hunk) => ComponentChildren;
}

/** What changed in one file. */
export function Diff({ file, actions, hunkActions }: DiffProps) {
  const { path, from, status, kind, hidden, part_of, hunks } = file;
  return (
    <section class="diff" aria-label={path}>
      <header class="diff-head">
        <span class={`tag ${status}`}>{STATUS[status]}</span>
        <h3 class="path">
          {from !== null && from !== path && <span class="faint">{from} → </span>}
          {path}
        </h3>
        {kind !== 'file' && <span class="tag">{kind}</span>}
        {part_of !== null && <span class="faint">with {part_of}</span>}
        <span class="push" />
        {actions}
      </header>
      {hidden !== null && <p class="diff-note">{HIDDEN[hidden]}</p>}
      {hidden === null && hunks.length === 0 && kind !== 'folder' && <p class="diff-note">No lines differ.</p>}
      {hunks.map((hunk) => (
        <div class="hunk" key={hunk.id}>
          <div class="hunk-head">
            <code>{hunk.header}</code>
            <span class="push" />
            {hunkActions?.(hunk)}
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled to with the keyboard */}
          <div class="lines" role="group" tabIndex={0} aria-label={`Lines of ${path}, ${describe(hunk)}`}>
            <div class="lines-inner">
              {hunk.lines.map((line, index) => (
                <div key={index} class={CLASS[line[0] ?? ' ']}>
                  {line}
                </div>
              ))}
            </div>
          </div>
        </div>
      ))}
    </section>
  );
}

const CLASS: Readonly<Record<string, string>> = {
  '+': 'line plus',
  '-': 'line minus',
  ' ': 'line',
  '\\': 'line faint',
};

function describe({ lines }: Hunk): string {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return `${plural(count('+'), 'line')} added, ${count('-')} removed`;
}
