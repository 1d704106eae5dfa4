import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import type { BackendName, Root, RootPath } from '../fence/index.ts';
import { Sandbox } from '../fence/sandbox.fixture.ts';
import { type CopyOptions, copy } from '../files/copy/copy.ts';
import { move } from '../files/copy/move.ts';
import { replaceText } from '../files/edit/edit-file.ts';
import { removeEntry } from '../files/remove/remove-entry.ts';
import { makeFolder } from '../files/write/make-folder.ts';
import { writeFile } from '../files/write/write-file.ts';
import { DEFAULT_HISTORY, History, type HistoryOptions } from '../history/index.ts';
import { DEFAULT_CONTEXT } from '../runtime/operation-context.ts';
import { type AppliedUndo, applyUndo } from './apply-undo.ts';
import { type ChangeFilter, selectChanges } from './past-change.ts';
import type { UndoPlan } from './plan/undo-plan.ts';
import { planUndo, type UndoOptions } from './plan-undo.ts';

/** A sandbox whose root has a history, with short names for the operations. Each call is a change. */
export class PastBox implements Disposable {
  readonly box: Sandbox;
  readonly root: Root;
  readonly history: History;
  readonly backend: BackendName;

  constructor(backend: BackendName, options: Partial<HistoryOptions> = {}, under?: string) {
    this.backend = backend;
    this.box = new Sandbox(backend, under);
    this.root = this.box.root;
    this.history = History.open(this.root, { ...DEFAULT_HISTORY, ...options });
  }

  at(raw: string): RootPath {
    return this.box.at(raw);
  }

  async write(name: string, content: string | Buffer, mode: 'overwrite' | 'append' = 'overwrite'): Promise<void> {
    const { path } = this.at(name);
    await writeFile(this.root, path, Buffer.from(content), { mode, durable: false }, context());
  }

  append(name: string, content: string | Buffer): Promise<void> {
    return this.write(name, content, 'append');
  }

  async edit(name: string, oldText: string, newText: string): Promise<void> {
    await replaceText(this.root, this.at(name).path, { oldText, newText }, { durable: false, ...context() });
  }

  async copy(from: string, to: string, options: CopyOptions = {}): Promise<void> {
    await copy(this.at(from), this.at(to), { durable: false, ...options }, context());
  }

  async move(from: string, to: string): Promise<void> {
    await move(this.at(from), this.at(to), { durable: false, overwrite: true, intoFolders: false }, context());
  }

  async remove(name: string): Promise<void> {
    await removeEntry(this.root, this.at(name).path, { durable: false }, context());
  }

  async makeFolder(name: string): Promise<void> {
    await makeFolder(this.root, this.at(name).path, { durable: false }, context());
  }

  plan(filter: ChangeFilter = {}, options: UndoOptions = {}): UndoPlan {
    return planUndo(this.history, this.history.root, selectChanges(this.history, filter), options);
  }

  undo(filter: ChangeFilter = {}, options: UndoOptions = {}): Promise<AppliedUndo> {
    return applyUndo(this.plan(filter, options), { caller: { tool: 'undo' }, durable: false });
  }

  /** The ids of all changes, oldest first. */
  get changes(): string[] {
    return selectChanges(this.history, {})
      .map(({ id }) => id)
      .reverse();
  }

  /** The conflicts that an undo would have, as `reason path`. */
  conflicts(filter: ChangeFilter = {}): string[] {
    return this.plan(filter).conflicts.map(({ reason, path }) => `${reason} ${path}`);
  }

  look(): Look {
    return look(this.box.inside);
  }

  /** Checks that everything is as it was. Only one backend can set times to the nanosecond. */
  expectSame(before: Look): void {
    const now = this.look();
    for (const [name, entry] of Object.entries(now)) {
      const difference = Number((entry.mtimeNs ?? 0n) - (before[name]?.mtimeNs ?? 0n));
      if (this.backend !== 'openat2' && Math.abs(difference) < 2_000) entry.mtimeNs = before[name]?.mtimeNs;
    }
    expect(now).toEqual(before);
  }

  [Symbol.dispose](): void {
    this.history[Symbol.dispose]();
    this.box[Symbol.dispose]();
  }
}

const context = () => ({ ...DEFAULT_CONTEXT, caller: { tool: 'test' } });

/** What everything in a folder is like, by path. */
export type Look = Record<string, { readonly is: string; mtimeNs?: bigint | undefined }>;

/** Describes everything in a folder but its history: content, mode, times of files and links, which names are one file. */
export function look(top: string): Look {
  const found: Look = {};
  const names = new Map<bigint, string>();
  const walk = (folder: Buffer, prefix: string) => {
    for (const name of fs.readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare)) {
      const at = Buffer.concat([folder, Buffer.from(path.sep), name]);
      const shown = prefix + name.toString('latin1');
      if (shown === '.ringfence') continue;
      const stats = fs.lstatSync(at, { bigint: true });
      const mode = (Number(stats.mode) & 0o7777).toString(8);
      if (stats.isDirectory()) {
        found[shown] = { is: `folder ${mode}` };
        walk(at, `${shown}/`);
        continue;
      }
      const first = names.get(stats.ino) ?? shown;
      names.set(stats.ino, first);
      const content = stats.isSymbolicLink()
        ? `-> ${fs.readlinkSync(at, 'buffer').toString('latin1')}`
        : createHash('sha1').update(fs.readFileSync(at)).digest('hex');
      const isLinked = first === shown ? '' : ` = ${first}`;
      found[shown] = { is: `${mode} ${content}${isLinked}`, mtimeNs: stats.mtimeNs };
    }
  };
  walk(Buffer.from(top), '');
  return found;
}
