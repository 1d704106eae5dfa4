import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { createMemoryTool } from '../../src/dialects/memory-tool/create-memory-tool.ts';
import { cannotCutPower, type DiskState, type FilesystemName, PowerCutDisk, stateOf } from './power-cut-disk.ts';
import { furnish, type Step, workspaceSteps } from './power-cut-steps.ts';
import { startServer, type TestServer } from './start-server.ts';
import type { Args } from './tool-client.ts';

/** The mount options of each disk of a test, by its name. */
type DiskOptions = Readonly<Record<string, readonly string[]>>;

const ONE_DISK: DiskOptions = { near: [] };
const TWO_DISKS: DiskOptions = { near: [], far: [] };
/** What is removed from the first disk is gone at once, what is made on the second one is only there once it is flushed. */
const SYNC_TO_LAZY: DiskOptions = { near: ['sync'], far: [] };

/** Disks of which snapshots are taken at the same moment. Paths in their state begin with the name of the disk. */
class Disks implements Disposable {
  readonly #disks: ReadonlyMap<string, PowerCutDisk>;

  constructor(filesystem: FilesystemName, options: DiskOptions) {
    this.#disks = new Map(Object.entries(options).map(([name, extra]) => [name, new PowerCutDisk(filesystem, extra)]));
  }

  /** The host path of what is called `near/…` or `far/…`. */
  host(name: string): string {
    const [disk = '', ...names] = name.split('/');
    return path.join(this.#disks.get(disk)?.folder ?? '', ...names);
  }

  roots(): { name: string; path: string }[] {
    return [...this.#disks].map(([name, { folder }]) => ({ name, path: folder }));
  }

  flush(): void {
    for (const disk of this.#disks.values()) disk.flush();
  }

  state(): DiskState {
    return this.#join(({ folder }) => stateOf(folder));
  }

  snapshot(): ReadonlyMap<PowerCutDisk, string> {
    return new Map([...this.#disks.values()].map((disk) => [disk, disk.snapshot()]));
  }

  unmount(): void {
    for (const disk of this.#disks.values()) disk.unmount();
  }

  recover(snapshot: ReadonlyMap<PowerCutDisk, string>): DiskState {
    return this.#join((disk) => disk.recover(snapshot.get(disk) ?? ''));
  }

  [Symbol.dispose](): void {
    for (const disk of this.#disks.values()) disk[Symbol.dispose]();
  }

  #join(stateOfDisk: (disk: PowerCutDisk) => DiskState): DiskState {
    const joined = new Map<string, string>();
    for (const [disk, each] of this.#disks) {
      for (const [name, what] of stateOfDisk(each)) joined.set(`${disk}/${name}`, what);
    }
    return joined;
  }
}

/** Puts on two disks what `workspaceSteps` works with, and starts a server on them. */
function startFurnished(disks: Disks): Promise<TestServer> {
  furnish(disks.host('near'));
  fs.writeFileSync(disks.host('far/file'), 'replaced');
  disks.flush();
  return startServer({ transport: 'stdio', roots: disks.roots() });
}

/** The longest time from the start of a call to the power cut: about as long as the longest call takes. */
const MAX_DELAY_MS = 8;

/** A call, and the states between which a power cut has to leave the disks. */
interface Cut extends Step {
  readonly before: DiskState;
  readonly after: DiskState;
}

/** Returns what must not be so after a power cut: files neither old nor new, folders in part, what was moved in neither place. */
function problemsOf(left: DiskState, { before, after, whole, moved }: Omit<Cut, 'run'>): string[] {
  const problems = [...new Set([before, after, left].flatMap((state) => [...state.keys()]))]
    .filter((name) => left.get(name) !== before.get(name) && left.get(name) !== after.get(name))
    .map((name) => `${name}: ${left.get(name)}, was ${before.get(name)}, should be ${after.get(name)}`);
  const isAs = (state: DiskState, top: string): boolean => partOf(left, top) === partOf(state, top);
  if (whole !== undefined && !isAs(before, whole) && !isAs(after, whole)) problems.push(`${whole}: incomplete`);
  if (moved !== undefined && !isAs(before, moved[0]) && !isAs(after, moved[1])) problems.push(`${moved[0]}: lost`);
  return problems;
}

/** Returns the part of a state that is at a path and below, as a text to compare. */
function partOf(state: DiskState, top: string): string {
  const part = [...state].filter(([name]) => name === top || name.startsWith(`${top}/`));
  return part.sort().join('\n');
}

/** Makes a call, and takes a snapshot at some moment of it. With `onRemoval`, that is when the source of a move is gone. */
async function cutDuring(disks: Disks, server: TestServer, { step, onRemoval }: { step: Step; onRemoval: boolean }) {
  const before = disks.state();
  let isUnderWay = true;
  const call = step.run().finally(() => {
    isUnderWay = false;
  });
  if (onRemoval && step.moved !== undefined) {
    const source = disks.host(step.moved[0]);
    while (isUnderWay && fs.lstatSync(source, { throwIfNoEntry: false })) await new Promise(setImmediate);
  } else await sleep(Math.random() * MAX_DELAY_MS);
  // The kernel ends the system calls that have begun, and no other begins.
  process.kill(server.pid, 'SIGSTOP');
  const underWay = isUnderWay;
  let snapshot: ReturnType<Disks['snapshot']>;
  try {
    snapshot = disks.snapshot();
  } finally {
    process.kill(server.pid, 'SIGCONT');
  }
  await call;
  return { ...step, before, after: disks.state(), snapshot, underWay };
}

/**
 * Tests on a real file system that what a call has made is on disk when it succeeds, and that a power cut at any moment leaves every
 * file old or new and loses none. All calls are made `rounds` times with a cut while each of them runs.
 */
export function testPowerCuts(filesystem: FilesystemName, { rounds }: { readonly rounds: number }): void {
  const reason = cannotCutPower(filesystem);
  const figures = { succeeded: 0, underWay: 0, problems: 0 };

  function check(left: DiskState, cut: Omit<Cut, 'run'>): void {
    const problems = problemsOf(left, cut);
    figures.problems += problems.length;
    expect.soft(problems, cut.name).toEqual([]);
  }

  /** Makes calls one after another and looks, for each, at what a power cut at the moment of its success leaves. */
  async function cutAfterEach(disks: Disks, steps: readonly Step[], stop: () => Promise<unknown>): Promise<void> {
    disks.flush();
    const cuts = [];
    for (const { name, run } of steps) {
      await run();
      cuts.push({ name, snapshot: disks.snapshot(), state: disks.state() });
    }
    await stop();
    disks.unmount();
    for (const { name, snapshot, state } of cuts) check(disks.recover(snapshot), { name, before: state, after: state });
    figures.succeeded += cuts.length;
  }

  describe.skipIf(reason)(
    `power cuts on ${filesystem}${reason ? ` (not here: ${reason})` : ''}`,
    { timeout: 120_000 },
    () => {
      test('lose what was not flushed', async () => {
        using disks = new Disks(filesystem, ONE_DISK);
        disks.flush();
        const config = { durable_writes: false };
        await using server = await startServer({ transport: 'stdio', roots: disks.roots(), config });
        await server.ok('write_file', { root: 'near', path: 'file', content: 'lost' });
        const snapshot = disks.snapshot();
        expect([...disks.state().keys()]).toEqual(['near/file']);
        await server.stop();
        disks.unmount();
        expect([...disks.recover(snapshot)]).toEqual([]);
      });

      test('lose nothing that a workspace call has made', async () => {
        using disks = new Disks(filesystem, TWO_DISKS);
        await using server = await startFurnished(disks);
        await cutAfterEach(disks, workspaceSteps(server), () => server.stop());
      });

      test('lose nothing that a memory call has made', async () => {
        using disks = new Disks(filesystem, ONE_DISK);
        const env = { BASE_PATH: disks.host('near/made/base') };
        await using server = await startServer({ dialect: 'memory', env });
        const step = (tool: string, args: Args): Step => ({ name: tool, run: () => server.ok(tool, args) });
        const steps = [
          step('create', { path: 'notes/a/f', content: 'one\ntwo\n', encoding: 'utf-8' }),
          step('str_replace', { path: 'notes/a/f', old_str: 'two', new_str: '2' }),
          step('insert', { path: 'notes/a/f', insert_line: 1, new_str: 'zero\n' }),
          step('rename', { old_path: 'notes/a', new_path: 'other/b/c' }),
          step('create', { path: 'notes/g', content: 'g', encoding: 'utf-8' }),
          step('delete', { path: 'notes/g' }),
          step('delete', { path: 'notes' }),
        ];
        await cutAfterEach(disks, steps, () => server.stop());
      });

      test('lose nothing that a classic call has made', async () => {
        using disks = new Disks(filesystem, ONE_DISK);
        furnish(disks.host('near'));
        await using server = await startServer({ dialect: 'classic', args: ['--root-dir', disks.host('near')] });
        const step = (tool: string, args: Args): Step => ({ name: tool, run: () => server.ok(tool, args) });
        const steps = [
          step('write', { path: 'x/y/f', content: 'text', make_dirs: true }),
          step('write', { path: 'x/y/f', content: ' and more', mode: 'append' }),
          step('copy', { source: 'tree', destination: 'x/tree' }),
          step('copy', { source: 'few', destination: 'x/tree', overwrite: true }),
          step('move', { source: 'x/tree', destination: 'z/tree' }),
          step('mkdir', { path: 'm/n/o' }),
          step('delete', { path: 'z', recursive: true }),
          step('delete', { path: 'x/y/f' }),
        ];
        await cutAfterEach(disks, steps, () => server.stop());
      });

      test("lose nothing that a command of Claude's memory tool has made", async () => {
        using disks = new Disks(filesystem, ONE_DISK);
        await using memory = createMemoryTool({ root: disks.host('near/made/memories') });
        const step = (command: string, args: Args): Step => ({
          name: command,
          run: async () => expect(await memory.execute({ command, ...args })).not.toContain('Error'),
        });
        const steps = [
          step('create', { path: '/memories/a/f', file_text: 'one\ntwo\n' }),
          step('str_replace', { path: '/memories/a/f', old_str: 'two', new_str: '2' }),
          step('insert', { path: '/memories/a/f', insert_line: 1, insert_text: 'zero\n' }),
          step('rename', { old_path: '/memories/a', new_path: '/memories/b/c' }),
          step('delete', { path: '/memories/b/c/f' }),
          step('delete', { path: '/memories/b' }),
        ];
        await cutAfterEach(disks, steps, () => memory.close());
      });

      test.each(Array.from({ length: rounds }, (_, i) => i + 1))(
        'during a call leave files old or new and new folders complete, and lose nothing that is moved (%i)',
        async (round) => {
          const onRemoval = round % 2 === 1;
          using disks = new Disks(filesystem, onRemoval ? SYNC_TO_LAZY : TWO_DISKS);
          await using server = await startFurnished(disks);
          const cuts = [];
          for (const step of workspaceSteps(server)) cuts.push(await cutDuring(disks, server, { step, onRemoval }));
          await server.stop();
          disks.unmount();
          for (const cut of cuts) check(disks.recover(cut.snapshot), cut);
          const underWay = cuts.filter((cut) => cut.underWay).length;
          expect(underWay, 'calls that were under way when the power was cut').toBeGreaterThan(0);
          figures.underWay += underWay;
        },
      );

      afterAll(() => {
        const { succeeded, underWay, problems } = figures;
        console.info(
          `${filesystem}: cut after ${succeeded} calls and during ${underWay}, ${problems} entries lost or torn`,
        );
      });
    },
  );
}
