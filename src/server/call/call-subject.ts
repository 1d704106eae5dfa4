import type { Args } from './render.ts';

/** Arguments that name a root, and those that name a path: of two ends, the log's `path` is the source. */
const ROOT_ARGUMENT = /(?:^|_)root$/;
const PATH_ARGUMENT = /(?:^|_)path$|^source$/;

/** The arguments that say what a call of a tool is about, and which of them name a root or a path. */
export interface SubjectArguments {
  readonly names: readonly string[];
  readonly roots: readonly string[];
  readonly paths: readonly string[];
}

export function subjectArguments(names: readonly string[]): SubjectArguments {
  return {
    names,
    roots: names.filter((name) => ROOT_ARGUMENT.test(name)),
    paths: names.filter((name) => PATH_ARGUMENT.test(name)),
  };
}

const NO_SUBJECT = subjectArguments([]);

/** What is noted about a call for the log. */
export class CallSubject {
  readonly about: Record<string, string> = {};
  readonly #subject: SubjectArguments;
  #root: string | undefined;

  constructor(subject: SubjectArguments = NO_SUBJECT) {
    this.#subject = subject;
  }

  /** Notes the arguments that say what the call is about, once as given and again when defaults are filled in. */
  note(args: Args): void {
    for (const name of this.#subject.names) {
      const value = args[name];
      if (typeof value === 'string') this.about[name] = value;
    }
  }

  /** The first root counts: that of a source, where a call has source and destination. */
  useRoot(root: string | undefined): void {
    this.#root ??= root;
  }

  get root(): string | undefined {
    return this.#root ?? this.#first(this.#subject.roots);
  }

  get path(): string | undefined {
    return this.#first(this.#subject.paths);
  }

  #first(names: readonly string[]): string | undefined {
    for (const name of names) if (this.about[name] !== undefined) return this.about[name];
    return undefined;
  }
}
