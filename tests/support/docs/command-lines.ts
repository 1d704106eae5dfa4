import fs from 'node:fs';
import path from 'node:path';
import { runRingfence } from '../ringfence-process.ts';
import { TOP } from './doc-pages.ts';

/** A use of the command in a text: its subcommand and flags. */
interface Use {
  readonly command: string;
  readonly flags: readonly string[];
}

/** Commands that serve until they are stopped. */
const SERVING =
  /^(?:[A-Z_]+=\S+ )*(?:node \S+dist\/bin\.js|npx (?:-y )?ringfence|ringfence) (serve|stdio|memory|classic|guide)\b/;

/** Returns which kind of server a line of shell starts; undefined if it ends by itself. */
export function serverOf(line: string): string | undefined {
  return line.includes('--help') ? undefined : SERVING.exec(line)?.[1];
}

/** Finds every use of `ringfence` as a command, or as `dist/bin.js`, in lines of shell. */
export function usesIn(text: string): Use[] {
  const joined = text.replaceAll('\\\n', ' ');
  const uses = joined.matchAll(
    /(?:(?:^|[|;&(]\s*|-- |npx (?:-y )?|[A-Z_]+=\S+ |sudo -u \S+ )ringfence|dist\/bin\.js) ([a-z][a-z-]*)([^\n|;&#)]*)/gm,
  );
  return [...uses].map(([, command = '', rest = '']) => ({
    command,
    flags: [...rest.matchAll(/(?<=\s)--[a-z-]+/g)].map(([flag]) => flag),
  }));
}

/** Returns the first script of npm or target of make in a text that this repository does not have. */
export function unknownScript(text: string): string | undefined {
  const { scripts } = JSON.parse(fs.readFileSync(path.join(TOP, 'package.json'), 'utf8'));
  const makefile = fs.readFileSync(path.join(TOP, 'Makefile'), 'utf8');
  const npm = [...text.matchAll(/\bnpm (?:run )?(?:-s |--silent )?(start|test|(?<=run )[\w-]+)/g)];
  const make = [...text.matchAll(/(?:^|&& )make ([\w-]+)/gm)];
  const missing = [
    ...npm.filter(([, name = '']) => !(name in scripts)),
    ...make.filter(([, name = '']) => !new RegExp(`^${name}:`, 'm').test(makefile)),
  ];
  return missing[0]?.[0];
}

/** Knows the commands and their options, as `--help` prints them. */
export class CommandHelp {
  readonly #helps = new Map<string, Promise<string>>();

  /** Returns the first command or option that does not exist; undefined if all do. */
  async firstUnknown(uses: readonly Use[]): Promise<string | undefined> {
    for (const { command, flags } of uses) {
      const help = await this.#help(command);
      if (!help.startsWith(`Usage: ringfence ${command}`)) return `ringfence ${command}`;
      const unknown = flags.find((flag) => !new RegExp(`^ +(?:-\\w, )?${flag}\\b`, 'm').test(help));
      if (unknown !== undefined) return `ringfence ${command} ${unknown}`;
    }
    return undefined;
  }

  #help(command: string): Promise<string> {
    const known = this.#helps.get(command);
    if (known !== undefined) return known;
    const help = runRingfence([command, '--help']).then(({ stdout }) => stdout);
    this.#helps.set(command, help);
    return help;
  }
}
