import fs from 'node:fs';
import path from 'node:path';

/** A top-level declaration of a `.d.ts` file, without comments and strings. */
interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly isType: boolean;
  readonly text: string;
}

interface Module {
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Names that are imported from, or exported of, another file of the package. */
  readonly links: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

/** The declaration files of the package as tsc writes them: one statement begins at each line that is not indented. */
export class Declarations {
  readonly #modules = new Map<string, Module>();

  /** Returns what an entry of the package exports, by name. */
  exportsOf(entry: string): Map<string, Declaration> {
    const exported = new Map<string, Declaration>();
    for (const name of this.#module(entry).links.keys()) {
      const found = this.#resolve(entry, name);
      if (found === undefined) throw new Error(`${entry} exports ${name}, which is not declared`);
      exported.set(name, found);
    }
    return exported;
  }

  /** Lists the types that the exports of an entry mention and that the entry does not export. */
  missingExports(entry: string): string[] {
    const exported = [...this.exportsOf(entry).values()];
    const known = new Set(exported.map(idOf));
    return exported.flatMap((declaration) =>
      this.#mentioned(declaration)
        .filter((type) => !known.has(idOf(type)))
        .map((type) => `${declaration.name} mentions ${type.name} of ${path.basename(type.file)}`),
    );
  }

  #mentioned({ file, text }: Declaration): Declaration[] {
    const inline = [...text.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g)].map(([, from = '', name = '']) =>
      this.#resolve(declarationFile(file, from), name),
    );
    const named = [...text.matchAll(/(?<![.\w])[A-Za-z_]\w*/g)].map(([name]) => this.#resolve(file, name));
    return [...new Set([...inline, ...named])].filter((found) => found !== undefined).filter(({ isType }) => isType);
  }

  #resolve(file: string, name: string): Declaration | undefined {
    const { declarations, links } = this.#module(file);
    const link = links.get(name);
    return declarations.get(name) ?? (link && this.#resolve(link.file, link.name));
  }

  #module(file: string): Module {
    const known = this.#modules.get(file) ?? parse(file);
    this.#modules.set(file, known);
    return known;
  }
}

function parse(file: string): Module {
  const declarations = new Map<string, Declaration>();
  const links = new Map<string, { file: string; name: string }>();
  const code = fs
    .readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll("'", '"');
  for (const statement of code.split(/^(?=\w)/m)) {
    const [, names, from = ''] = /^(?:import|export) (?:type )?\{([^}]*)\} from "([^"]+)"/.exec(statement) ?? [];
    if (names !== undefined && from.startsWith('.')) {
      for (const item of names.split(',').filter((item) => item.trim() !== '')) {
        const [name = '', alias = name] = item
          .trim()
          .replace(/^type /, '')
          .split(' as ');
        links.set(alias, { file: declarationFile(file, from), name });
      }
    }
    const [, kind = '', name] =
      /^(?:export )?(?:declare )?(?:abstract )?(type|interface|class|const|function) (\w+)/.exec(statement) ?? [];
    if (name === undefined) continue;
    const text = (declarations.get(name)?.text ?? '') + statement.replace(/"[^."][^"]*"/g, '""');
    declarations.set(name, { file, name, isType: /type|interface|class/.test(kind), text });
  }
  return { declarations, links };
}

const idOf = ({ file, name }: Declaration): string => `${file}#${name}`;

function declarationFile(importer: string, from: string): string {
  return path.resolve(path.dirname(importer), from.replace(/\.[jt]s$/, '.d.ts'));
}
