import type { Root } from '../fence/index.ts';
import type { Capability } from './capabilities.ts';
import { ToolError } from './errors.ts';

interface LocalRoot {
  readonly kind?: 'local';
  readonly root: Root;
  readonly allowed: ReadonlySet<Capability>;
}

/** A root whose files are on the client's side. */
interface AgentRoot {
  readonly kind: 'agent';
  readonly root: { readonly name: string };
  readonly allowed: ReadonlySet<Capability>;
}

export type NamedRoot = LocalRoot | AgentRoot;

/** The operator's roots by name, in the order of the config, each with what may be done in it. */
export class Roots {
  readonly #byName: ReadonlyMap<string, NamedRoot>;

  constructor(roots: readonly NamedRoot[]) {
    this.#byName = new Map(roots.map((entry) => [entry.root.name, entry]));
  }

  /** Some of them, in the same order: for whoever may not even know of the others. */
  only(names: readonly string[]): Roots {
    return new Roots(this.all().filter(({ root }) => names.includes(root.name)));
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  all(): NamedRoot[] {
    return [...this.#byName.values()];
  }

  /**
   * The folder of that name, if it allows all that is needed. Raises `unknown_root`, then `tool_not_allowed`, also for a
   * root whose files are on the client's side.
   */
  use(name: string, needs: readonly Capability[]): Root {
    const entry = this.find(name, needs);
    if (entry.kind !== 'agent') return entry.root;
    throw new ToolError('tool_not_allowed', { tool: needs[0] ?? '' }, { root: name });
  }

  /** The root of that name, of either kind, on the same conditions. */
  find(name: string, needs: readonly Capability[]): NamedRoot {
    const entry = this.#byName.get(name);
    if (entry === undefined) throw new ToolError('unknown_root', { known: [...this.#byName.keys()] }, { root: name });
    const missing = needs.find((need) => !entry.allowed.has(need));
    if (missing !== undefined) throw new ToolError('tool_not_allowed', { tool: missing }, { root: name });
    return entry;
  }
}
