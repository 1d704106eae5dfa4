import fs from 'node:fs';

/**
 * The user and group names of this machine, read once from `/etc/passwd` and `/etc/group`. Other name services are not
 * asked.
 */
export class OwnerNames {
  readonly #users: ReadonlyMap<string, string>;
  readonly #groups: ReadonlyMap<string, string>;

  /** Reads both tables. A machine without them has no names. */
  constructor(folder = '/etc') {
    this.#users = table(`${folder}/passwd`);
    this.#groups = table(`${folder}/group`);
  }

  /** Returns the name of a user, or the number as text. */
  user(uid: number): string {
    return this.#users.get(String(uid)) ?? String(uid);
  }

  /** Returns the name of a group, or the number as text. */
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
    // Of several entries for an id, other tools show the first.
    if (name && id && !names.has(id)) names.set(id, name);
  }
  return names;
}
