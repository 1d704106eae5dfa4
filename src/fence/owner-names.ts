import fs from 'node:fs';

/** The user and group names of this machine, read from `/etc`. Unknown ids stay numbers, as text. */
export class OwnerNames {
  readonly #users: ReadonlyMap<string, string>;
  readonly #groups: ReadonlyMap<string, string>;

  /** Reads the tables once. A machine without them just has no names. */
  constructor(folder = '/etc') {
    this.#users = table(`${folder}/passwd`);
    this.#groups = table(`${folder}/group`);
  }

  user(uid: number): string {
    return this.#users.get(String(uid)) ?? String(uid);
  }

  group(gid: number): string {
    return this.#groups.get(String(gid)) ?? String(gid);
  }
}

function table(file: string): Map<string, string> {
  const names = new Map<string, string>();
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    return names;
  }
  for (const line of text.split('\n')) {
    const [name, , id] = line.split(':');
    // The first entry of an id is the one that other tools show.
    if (name && id && !names.has(id)) names.set(id, name);
  }
  return names;
}
