/** A file or link of the model, which is another object once it is changed. */
interface ModelFile {
  readonly content: string;
}

type ModelNode = ModelFile | ModelFolder;

class ModelFolder {
  readonly entries = new Map<string, ModelNode>();
}

/** Takes back one thing that a change did. Returns false if the model is not as the change left it. */
type Undo = () => boolean;

/**
 * The tree of a root and its changes in memory, to compare an undo of some of them with. It knows entries by identity,
 * and of conflicts only whether there is one.
 */
export class SubsetModel {
  #top = new ModelFolder();
  readonly #undos: Undo[][] = [];
  /** The paths that each change touched. */
  readonly #touched: string[][] = [];
  #undoing: Undo[] = [];
  #touching: string[] | undefined;
  #staying: string[] = [];

  /** Does something as one change. */
  change(work: () => void): void {
    this.#undoing = [];
    this.#touching = [];
    work();
    this.#undos.push(this.#undoing);
    this.#touched.push(this.#touching);
    this.#touching = undefined;
  }

  /** Takes changes back, by their numbers, newest first. Reports whether there was no conflict; stops at the first. */
  undo(numbers: readonly number[]): boolean {
    return numbers
      .toSorted((a, b) => b - a)
      .every((number) => {
        this.#staying = this.#touched.filter((_, at) => at > number && !numbers.includes(at)).flat();
        return (this.#undos[number] ?? []).toReversed().every((undo) => undo());
      });
  }

  /** Lists all entries with what is in them. */
  look(): Record<string, string> {
    const found: Record<string, string> = {};
    const walk = (folder: ModelFolder, prefix: string) => {
      for (const [name, node] of folder.entries) {
        found[prefix + name] = node instanceof ModelFolder ? 'folder' : node.content;
        if (node instanceof ModelFolder) walk(node, `${prefix}${name}/`);
      }
    };
    walk(this.#top, '');
    return found;
  }

  write(path: string, content: string): void {
    this.#makeFolders(path);
    this.#put(path, { content });
  }

  append(path: string, content: string): void {
    const there = this.#get(path);
    const before = there instanceof ModelFolder ? '' : (there?.content ?? '');
    this.write(path, before + content);
  }

  remove(path: string): void {
    const removed = this.#get(path) as ModelNode;
    this.#set(path, undefined);
    this.#undoing.push(() => this.#get(path) === undefined && this.#set(path, removed));
  }

  makeFolder(path: string): void {
    this.#makeFolders(`${path}/x`);
  }

  move(from: string, to: string): void {
    this.#makeFolders(to);
    const moved = this.#get(from) as ModelNode;
    const replaced = this.#get(to);
    this.#set(from, undefined);
    this.#set(to, moved);
    this.#undoing.push(() => {
      if (this.#get(to) !== moved || this.#get(from) !== undefined || !this.#folderOf(from)) return false;
      this.#set(to, replaced);
      return this.#set(from, moved);
    });
  }

  copy(from: string, to: string): void {
    this.#makeFolders(to);
    this.#put(to, clone(this.#get(from) as ModelNode));
  }

  #put(path: string, node: ModelNode): void {
    const before = this.#get(path);
    const inside = new Set(nodesIn(node));
    this.#set(path, node);
    this.#undoing.push(() => {
      // A folder that was copied goes as a whole, so no later change may have touched what is in it.
      if (node instanceof ModelFolder && this.#staying.some((other) => other.startsWith(`${path}/`))) return false;
      const isAsLeft = this.#get(path) === node && nodesIn(node).every((inner) => inside.has(inner));
      return isAsLeft && this.#set(path, before);
    });
  }

  #makeFolders(path: string): void {
    const names = path.split('/').slice(0, -1);
    for (const depth of names.keys()) {
      const folder = names.slice(0, depth + 1).join('/');
      if (this.#get(folder) !== undefined) continue;
      const made = new ModelFolder();
      this.#set(folder, made);
      this.#undoing.push(() => {
        const there = this.#get(folder);
        return there instanceof ModelFolder && there.entries.size === 0 && this.#set(folder, undefined);
      });
    }
  }

  #get(path: string): ModelNode | undefined {
    let node: ModelNode | undefined = this.#top;
    for (const name of path.split('/')) node = node instanceof ModelFolder ? node.entries.get(name) : undefined;
    return node;
  }

  #folderOf(path: string): ModelFolder | undefined {
    const folder = path.includes('/') ? this.#get(path.slice(0, path.lastIndexOf('/'))) : this.#top;
    return folder instanceof ModelFolder ? folder : undefined;
  }

  #set(path: string, node: ModelNode | undefined): boolean {
    this.#touching?.push(path);
    const folder = this.#folderOf(path);
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (node === undefined) folder?.entries.delete(name);
    else folder?.entries.set(name, node);
    return folder !== undefined;
  }
}

function clone(node: ModelNode): ModelNode {
  if (!(node instanceof ModelFolder)) return { ...node };
  const copy = new ModelFolder();
  for (const [name, inner] of node.entries) copy.entries.set(name, clone(inner));
  return copy;
}

function nodesIn(node: ModelNode): ModelNode[] {
  return node instanceof ModelFolder ? [node, ...[...node.entries.values()].flatMap(nodesIn)] : [node];
}
