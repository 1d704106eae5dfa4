import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { runToEnd } from '../clients/child.js';

export const RIPGREP = 'ripgrep';
/** See everything but binary files, as our tools do; no settings of the person who runs the benchmark. */
const EVERYTHING = ['--no-config', '-uu'];
/** Keep ignore rules, as our tools do: also where there is no repository, and for hidden files. */
const NOT_IGNORED = ['--no-config', '--hidden', '--no-require-git', '--glob', '!.git'];
const FORM = ['--line-number', '--with-filename', '--null', '--no-heading', '--color=never'];
/** Exit code 1 says that nothing was found. */
const okCodes = [0, 1];

/** Searches a file or folder: the time from spawn to end, and what it found as sorted `file:line`. */
export async function ripgrep({ pattern, ignoreCase = false }, place, { base, keepsRules = false }) {
  const scope = keepsRules ? NOT_IGNORED : EVERYTHING;
  const args = [...scope, ...FORM, ...(ignoreCase ? ['--ignore-case'] : []), '-e', pattern, place];
  const { ms, output } = await runToEnd(rgPath, args, { okCodes });
  const found = () =>
    lines(output).map((line) => {
      const end = line.indexOf('\0');
      return `${path.relative(base, line.slice(0, end))}:${line.slice(end + 1, line.indexOf(':', end))}`;
    });
  return { ms, found: () => found().sort() };
}

/** What a search of a folder prints for a person: headings, line numbers, paths relative to the folder, in order. */
export async function ripgrepForReader({ pattern, contextLines = 0 }, folder) {
  const form = ['--heading', '--line-number', '--color=never', '--sort=path', `--context=${contextLines}`];
  const { output } = await runToEnd(rgPath, [...EVERYTHING, ...form, '-e', pattern], { okCodes, cwd: folder });
  return output.toString();
}

/** Lists the files of a folder that fit a glob. */
export async function ripgrepFiles(glob, folder) {
  const { ms, output } = await runToEnd(rgPath, [...EVERYTHING, '--files', '--glob', glob, folder], { okCodes });
  return {
    ms,
    found: () =>
      lines(output)
        .map((file) => path.relative(folder, file))
        .sort(),
  };
}

function lines(output) {
  const text = output.toString();
  return text === '' ? [] : text.trimEnd().split('\n');
}
