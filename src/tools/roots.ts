import type { Root } from '../fence/index.ts';
import { CAPABILITIES, type Capability } from './capabilities.ts';
import { ToolError } from './errors.ts';

/** A named root whose files are in a folder of this machine. */
export interface NamedLocalRoot {
  readonly kind?: 'local';
  readonly root: Root;
  readonly allowed: ReadonlySet<Capability>;
  /** The capabilities for whose use a person has to agree first; by default none. */
  readonly confirm?: ReadonlySet<Capability>;
}

/** A named root whose files are on the client's side. */
export interface NamedAgentRoot {
  readonly kind: 'agent';
  readonly root: { readonly name: string };
  readonly allowed: ReadonlySet<Capability>;
}

/** A root, and what the operator allows in it. */
export type NamedRoot = NamedLocalRoot | NamedAgentRoot;

/** The configured roots by name, in the order of the config. They can be replaced while clients are connected. */
export class Roots {
  #byName: ReadonlyMap<string, NamedRoot> = new Map();
  #someConfirm = false;
  #pinned: Roots | undefined;

  constructor(roots: readonly NamedRoot[]) {
    this.replace(roots);
  }

  /** Replaces all roots, for everyone who has this object. */
  replace(roots: readonly NamedRoot[]): void {
    this.#byName = new Map(roots.map((entry) => [entry.root.name, entry]));
    this.#someConfirm = roots.some((entry) => entry.kind !== 'agent' && (entry.confirm?.size ?? 0) > 0);
    this.#pinned = undefined;
  }

  /** Returns the roots as they are now. A call takes them when it begins, so that it ends with the same. */
  pinned(): Roots {
    this.#pinned ??= new Roots(this.all());
    return this.#pinned;
  }

  /** Whether there is a root in which a person has to agree to some changes. */
  get someConfirm(): boolean {
    return this.#someConfirm;
  }

  /** Reports whether a person has to agree before any of these capabilities is used on a root. */
  needConfirmation(name: string, capabilities: readonly Capability[]): boolean {
    const entry = this.#byName.get(name);
    return entry !== undefined && entry.kind !== 'agent' && capabilities.some((each) => entry.confirm?.has(each));
  }

  /**
   * Returns a subset in the same order, with some of what each root allows, for a client that may see and do no more.
   */
  only(names: readonly string[], tools: readonly Capability[] = CAPABILITIES): Roots {
    const visible = this.all().filter(({ root }) => names.includes(root.name));
    const limited = (allowed: ReadonlySet<Capability>) => new Set([...allowed].filter((tool) => tools.includes(tool)));
    return new Roots(visible.map((entry) => ({ ...entry, allowed: limited(entry.allowed) })));
  }

  /** Reports whether there is a root of that name. */
  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Returns all roots in the order of the config. */
  all(): NamedRoot[] {
    return [...this.#byName.values()];
  }

  /**
   * Returns the local root of that name if it allows all of `needs`. Raises `unknown_root`, and `tool_not_allowed` if
   * it does not, or if it is a root of client-side files.
   */
  use(name: string, needs: readonly Capability[]): Root {
    const entry = this.find(name, needs);
    if (entry.kind !== 'agent') return entry.root;
    throw new ToolError('tool_not_allowed', { tool: needs[0] ?? '' }, { root: name });
  }

  /**
   * Returns the root of that name, of either kind, if it allows all of `needs`. Raises `unknown_root` and
   * `tool_not_allowed`.
   */
  find(name: string, needs: readonly Capability[]): NamedRoot {
    const entry = this.#byName.get(name);
    if (entry === undefined) throw new ToolError('unknown_root', { known: [...this.#byName.keys()] }, { root: name });
    const missing = needs.find((need) => !entry.allowed.has(need));
    if (missing !== undefined) throw new ToolError('tool_not_allowed', { tool: missing }, { root: name });
    return entry;
  }
}
