import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Sample, SampleQuestion } from '../src/agent/sample.ts';
import type { RootConfig } from '../src/config/config.ts';
import { configFromDirs } from '../src/config/folders/config-from-dirs.ts';
import { InputRequired } from '../src/server/call/input-required.ts';
import type { Confirm } from '../src/server/confirm/approve.ts';
import { AGENT_CAPABILITIES, type Capability, CONFIRMABLE_CAPABILITIES } from '../src/tools/capabilities.ts';
import type { DialectName } from './support/dialect-contracts.ts';
import { DIALECTS, InProcessServer } from './support/in-process-server.ts';
import { tempDir } from './support/temp-dir.ts';

const AGENT = { root: 'laptop', path: 'docs/a.txt' };
const PATCH = '@@ -1 +1 @@\n-content\n+changed\n';
const HANDED = { type: 'file', name: 'x.txt', size: 1 };

/** Calls of every tool that succeed, those of one tool in turn; where a tool also works on files of the client's side, that too. */
const CALLS: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>> = {
  workspace: {
    list_roots: [{}],
    list_folder: [
      { root: 'inside', path: '' },
      { root: 'laptop', path: 'docs' },
    ],
    read_file: [{ root: 'inside', path: 'f.txt' }, AGENT],
    read_files: [{ root: 'inside', paths: ['f.txt'] }],
    write_file: [{ root: 'inside', path: 'new.txt', content: 'new' }],
    remove_file: [{ root: 'inside', path: 'f.txt' }],
    patch_file: [{ root: 'inside', path: 'f.txt', patch: PATCH }],
    edit_file: [{ root: 'inside', path: 'f.txt', old_text: 'content', new_text: 'changed' }],
    create_folder: [{ root: 'inside', path: 'made' }],
    remove_folder: [{ root: 'inside', path: 'd' }],
    stat_file: [{ root: 'inside', path: 'f.txt' }, AGENT],
    hash_file: [
      { root: 'inside', path: 'f.txt', algorithm: 'sha256' },
      { ...AGENT, algorithm: 'sha256' },
    ],
    permissions_file: [{ root: 'inside', path: 'f.txt' }],
    copy: [
      { source_root: 'inside', source_path: 'f.txt', dest_root: 'inside', dest_path: 'copy.txt' },
      { source_root: 'laptop', source_path: 'docs/a.txt', dest_root: 'inside', dest_path: 'new/copy.txt' },
      { source_root: 'laptop', source_path: 'docs', dest_root: 'inside', dest_path: 'tree' },
    ],
    move: [{ source_root: 'inside', source_path: 'f.txt', dest_root: 'inside', dest_path: 'moved.txt' }],
    grep: [{ root: 'inside', pattern: 'content' }],
    glob: [{ root: 'inside', pattern: '**' }],
  },
  memory: {
    view: [{ path: 'f.txt' }],
    create: [{ path: 'new.txt', content: 'new', encoding: 'utf-8' }],
    str_replace: [{ path: 'f.txt', old_str: 'content', new_str: 'changed' }],
    insert: [{ path: 'f.txt', insert_line: 1, new_str: 'first' }],
    delete: [{ path: 'f.txt' }],
    rename: [{ old_path: 'f.txt', new_path: 'moved.txt' }],
  },
  classic: {
    read: [{ path: 'f.txt' }],
    write: [{ path: 'new.txt', content: 'new' }],
    list: [{ path: '.' }],
    search: [{ root_path: '.', pattern: 'content' }],
    mkdir: [{ path: 'made' }],
    delete: [{ path: 'f.txt' }],
    copy: [{ source: 'f.txt', destination: 'copy.txt' }],
    move: [{ source: 'f.txt', destination: 'moved.txt' }],
    info: [{ path: 'f.txt' }],
  },
  guide: {
    guide_cache_file: [{ path: 'docs/x.txt', content: 'x' }],
    guide_read_file: [{ path: 'docs/x.txt', content: 'x' }],
    guide_list_directory: [{ path: 'docs', entries: [HANDED] }],
  },
};

/** The tools that ask. A tool that is not here has no question before which it could have done something. */
const ASKING = ['copy', 'hash_file', 'list_folder', 'read_file', 'stat_file'];

const disposals: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0)) await dispose();
});

/** A server on a fresh folder, and the state that its calls can change. A person has to agree to what `confirm` names. */
function open(dialect: DialectName, confirm: readonly Capability[] = []) {
  const base = tempDir();
  const inside = path.join(base, 'inside');
  fs.mkdirSync(path.join(inside, 'd'), { recursive: true });
  fs.writeFileSync(path.join(inside, 'f.txt'), 'content\n');
  for (const entry of ['.', 'f.txt', 'd']) fs.utimesSync(path.join(inside, entry), 1, 1);
  const agent = { allowedPaths: ['docs'], cacheBytes: 1_000_000, timeout: 5 };
  const laptop: RootConfig = { name: 'laptop', agent, allowed: AGENT_CAPABILITIES, origin: 'here' };
  const folders = configFromDirs([inside]);
  const server = new InProcessServer({
    dialect,
    config: { ...folders, roots: [...folders.roots.map((root) => ({ ...root, confirm }) as RootConfig), laptop] },
    boundRoot: 'inside',
    ...(dialect === 'guide' && { project: { ...agent, project: inside, origin: '' } }),
  });
  disposals.push(async () => {
    await server[Symbol.asyncDispose]();
    fs.rmSync(base, { recursive: true });
  });
  const call = async (tool: string, args: object, sample: Sample, confirm?: Confirm): Promise<unknown> =>
    (await server.call(tool, { ...args }, { sample, ...(confirm && { confirm }) })).raw;
  const contents = () => contentsOf(inside);
  const state = () => [contents(), server.cachedPaths()];
  return { call, contents, state };
}

function contentsOf(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const file = path.join(folder, name);
    return fs.statSync(file).isFile() ? `${name}: ${fs.readFileSync(file, 'utf8')}` : `${name}/`;
  });
}

const LISTED = ['a.txt', 'b.txt'].map((name) => ({ name, path: `docs/${name}`, type: 'file', size: 13, mtime: 1 }));

function answerTo({ type, path: asked }: SampleQuestion): object {
  if (type !== 'file') return { entries: LISTED };
  return asked === 'docs' ? { error: 'is_directory' } : { content: 'on the laptop', mtime: 1 };
}

/** A client that answers this many questions at once, and cannot answer the next one within the call. */
const answers = (count: number): Sample => {
  let left = count;
  return Object.assign(
    async (_params: unknown, { question }: Parameters<Sample>[1]) => {
      if (question === undefined || left-- <= 0) throw new InputRequired(new Map(), 1_000);
      return JSON.stringify(answerTo(question));
    },
    { separate: true },
  );
};
const suspend = answers(0);
const answer = answers(Number.POSITIVE_INFINITY);

describe.each(Object.keys(DIALECTS) as DialectName[])(
  'a tool of %s may be run again until its last question is answered',
  (name) => {
    const { tools } = DIALECTS[name];
    test('every tool is held to it', () => {
      expect(Object.keys(CALLS[name] ?? {}).sort()).toEqual(tools.map((tool) => tool.name).sort());
    });

    test.each(tools.map((tool) => tool.name))('%s', async (tool) => {
      let asked = false;
      for (const args of CALLS[name]?.[tool] ?? []) {
        const once = open(name);
        const expected = await once.call(tool, args, answer);
        expect([args, expected]).toEqual([args, expect.not.objectContaining({ isError: true })]);

        const again = open(name);
        const before = again.state();
        for (let run = 0; run < 3; run += 1) {
          const outcome = await again.call(tool, args, suspend).catch((error: unknown) => error);
          if (!(outcome instanceof InputRequired)) break;
          asked = true;
          expect(again.state()).toEqual(before);
          if (run === 2) expect(withoutTimes(await again.call(tool, args, answer))).toEqual(withoutTimes(expected));
        }
        if (asked) expect(again.state()).toEqual(once.state());
      }
      expect(asked).toBe(name === 'workspace' && ASKING.includes(tool));
    });
  },
);

test('a copy of a folder changes nothing before its last question is answered', async () => {
  const args = { source_root: 'laptop', source_path: 'docs', dest_root: 'inside', dest_path: 'tree' };
  // Is it a file? What is in it? And one question for each of its files.
  const questions = 2 + LISTED.length;
  for (let answered = 0; answered < questions; answered += 1) {
    const { call, contents } = open('workspace');
    const before = contents();
    await expect(call('copy', args, answers(answered))).rejects.toBeInstanceOf(InputRequired);
    expect([answered, contents()]).toEqual([answered, before]);
  }
  const { call, contents } = open('workspace');
  await call('copy', args, answers(questions));
  expect(contents()).toEqual(expect.arrayContaining(['tree/a.txt: on the laptop', 'tree/b.txt: on the laptop']));
});

/** The calls that change nothing of a root although their tools are not made for reading: those that hand files over. */
const HANDOVERS = ['guide_cache_file', 'guide_read_file', 'guide_list_directory'];

describe.each(Object.keys(DIALECTS) as DialectName[])('a person has to agree to every change of %s', (name) => {
  const later: Confirm = async () => {
    throw new InputRequired(new Map(), 1_000);
  };
  const { tools } = DIALECTS[name];
  const isHarmless = (tool: { name: string; effect: string }) =>
    tool.effect === 'read' || HANDOVERS.includes(tool.name);
  const harmless = tools.filter(isHarmless).map((tool) => tool.name);
  const changing = tools.filter((tool) => !isHarmless(tool)).map((tool) => tool.name);

  test.each(changing)('%s', async (tool) => {
    for (const args of CALLS[name]?.[tool] ?? []) {
      const free = open(name);
      const expected = await free.call(tool, args, answer);
      const asked = open(name, CONFIRMABLE_CAPABILITIES);
      const before = asked.state();
      for (let run = 0; run < 2; run += 1) {
        await expect(asked.call(tool, args, answer, later)).rejects.toBeInstanceOf(InputRequired);
        expect(asked.state()).toEqual(before);
      }
      for (const confirm of [undefined, async () => 'declined', async () => 'unanswered'] as (Confirm | undefined)[]) {
        expect(await asked.call(tool, args, answer, confirm)).toMatchObject({ isError: true });
        expect(asked.state()).toEqual(before);
      }
      const questions: string[] = [];
      const agreed: Confirm = async ({ message }) => {
        questions.push(message);
        return 'agreed';
      };
      const result = await asked.call(tool, args, answer, agreed);
      expect(withoutVersions(withoutTimes(result))).toEqual(withoutVersions(withoutTimes(expected)));
      expect(asked.state()).toEqual(free.state());
      expect(questions).toEqual([
        expect.stringMatching(new RegExp(`^Allow ${tool} on ".+" \\(root: inside\\)\\? If so, .+\\.$`)),
      ]);
    }
  });

  test('nobody is asked about a call that changes nothing of a root', async () => {
    for (const tool of harmless) {
      for (const args of CALLS[name]?.[tool] ?? []) {
        const asked = open(name, CONFIRMABLE_CAPABILITIES);
        expect(await asked.call(tool, args, answer, later)).not.toMatchObject({ isError: true });
      }
    }
  });
});

/** Two files have different versions. */
function withoutVersions(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result).replaceAll(/(version\\?":\\?")\w+/g, '$1V'));
}

/** Two folders were made at different times. */
function withoutTimes(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
}
