import type { DialectName } from '../support/dialect-contracts.ts';

/** A message, or some of them in one piece, that costs a careless server much more than it costs its sender. */
export interface Bomb {
  readonly name: string;
  /** The dialects that it is thrown at; all of them if left out. */
  readonly dialects?: readonly DialectName[];
  /** Returns what to send. Each request in it that can be answered has the id 1. */
  message(dialect: DialectName): string;
  /** Whether it may well succeed. */
  readonly succeeds?: boolean;
  /** Whether several JSON-RPC messages are sent as lines, which only stdio takes. */
  readonly lines?: boolean;
}

/** A tool of each dialect that takes a path and a content. */
const WRITE: Readonly<Record<DialectName, string>> = {
  workspace: 'write_file',
  memory: 'create',
  classic: 'write',
  guide: 'guide_cache_file',
};
const LIST: Readonly<Record<DialectName, string>> = {
  workspace: 'list_folder',
  memory: 'view',
  classic: 'list',
  guide: 'guide_list_directory',
};

const request = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
const call = (tool: string, args: string): string => request('tools/call', `{"name":"${tool}","arguments":${args}}`);
const repeat = (text: string, count: number, separator = ','): string =>
  Array.from({ length: count }, () => text).join(separator);
const numbered = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');
const nested = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`;
const writes = (dialect: DialectName, path: string, content: string, more = ''): string =>
  call(
    WRITE[dialect],
    `{${dialect === 'workspace' ? '"root":"files",' : ''}"path":${path},"content":${content}${more}}`,
  );

const MB = 1_000_000;
const capabilities = (value: string): string =>
  request(
    'initialize',
    `{"protocolVersion":"2025-06-18","clientInfo":{"name":"a","version":"1"},"capabilities":${value}}`,
  );

/** What any dialect has to withstand. */
const GENERAL: readonly Bomb[] = [
  { name: '800,000 unknown arguments', message: (d) => call(LIST[d], `{${numbered(800_000, (i) => `"k${i}":0`)}}`) },
  { name: '900 unknown arguments', message: (d) => call(LIST[d], `{${numbered(900, (i) => `"k${i}":0`)}}`) },
  { name: 'an argument of 9 MB', message: (d) => call(LIST[d], `{"path":"${'a'.repeat(9 * MB)}"}`) },
  { name: 'a name of an argument of 9 MB', message: (d) => call(LIST[d], `{"${'a'.repeat(9 * MB)}":1}`) },
  { name: '3,000,000 empty objects', message: (d) => call(LIST[d], `{"path":[${repeat('{}', 3 * MB)}]}`) },
  { name: '5,000,000 numbers', message: (d) => call(LIST[d], `{"path":[${repeat('0', 4.5 * MB)}]}`) },
  { name: 'arguments nested 100,000 deep', message: (d) => call(LIST[d], `{"path":${nested(100_000, '[', ']')}}`) },
  { name: 'a tool name of 9 MB', message: () => call('t'.repeat(9 * MB), '{}') },
  { name: 'a method of 9 MB', message: () => request('m'.repeat(9 * MB), '{}') },
  { name: 'an id of 9 MB', message: () => `{"jsonrpc":"2.0","id":"${'i'.repeat(9 * MB)}","method":"ping"}` },
  {
    name: 'a progress token of 9 MB',
    message: (d) =>
      request('tools/call', `{"name":"${LIST[d]}","arguments":{},"_meta":{"progressToken":"${'t'.repeat(9 * MB)}"}}`),
  },
  {
    name: 'a batch of 200,000 requests',
    message: () => `[${repeat('{"jsonrpc":"2.0","id":1,"method":"ping"}', 200_000)}]`,
  },
  { name: 'a batch of 50 requests', message: () => `[${repeat('{"jsonrpc":"2.0","id":1,"method":"x"}', 50)}]` },
  { name: 'capabilities nested 10,000 deep', message: () => capabilities(nested(10_000, '{"a":', '}')) },
  { name: 'capabilities nested 150 deep', message: () => capabilities(nested(150, '{"a":', '}')), succeeds: true },
  {
    name: '100,000 capabilities',
    message: () => capabilities(`{"experimental":{${numbered(100_000, (i) => `"c${i}":{}`)}}}`),
  },
  { name: '10 MB that are not JSON', message: () => '{"a":'.repeat(2 * MB) },
  { name: '9 MB of white space', message: (d) => call(LIST[d], `{${' '.repeat(9 * MB)}}`) },
  {
    name: 'a content of 9 MB',
    succeeds: true,
    message: (d) => writes(d, '"docs/plain"', `"${'a'.repeat(8 * MB)}"`),
  },
  {
    name: 'a content of 8 MB in Chinese',
    succeeds: true,
    message: (d) => writes(d, '"docs/chinese"', `"${'漢'.repeat(2.6 * MB)}"`),
  },
  {
    name: 'a content of 9 MB of escaped quotes',
    succeeds: true,
    message: (d) => writes(d, '"docs/quotes"', `"${'\\"'.repeat(4.5 * MB)}"`),
  },
  {
    name: 'a content of 9 MB in base64',
    succeeds: true,
    message: (d) => writes(d, '"docs/binary"', `"${'QUJD'.repeat(2 * MB)}"`, ',"encoding":"base64"'),
  },
  {
    name: 'a content of 9 MB in wrong base64',
    message: (d) => writes(d, '"docs/wrong"', `"${'QUJD'.repeat(2 * MB)}!"`, ',"encoding":"base64"'),
  },
  { name: 'a path of control characters', message: (d) => writes(d, `"${'\\u009b'.repeat(MB)}"`, '""') },
  { name: 'a path of 2,000,000 folders', message: (d) => writes(d, `"${'a/'.repeat(2 * MB)}"`, '""') },
  { name: 'a path of 2,000,000 steps back', message: (d) => writes(d, `"${'a/../'.repeat(1.8 * MB)}x"`, '""') },
];

const ofMethod = (name: string, method: string, params: () => string, succeeds = false): Bomb => ({
  name: `${method} with ${name}`,
  dialects: ['workspace', 'guide'],
  message: () => request(method, params()),
  succeeds,
});

/** Requests that the SDK answers. */
const PROTOCOL: readonly Bomb[] = [
  ofMethod('a number', 'resources/read', () => '{"uri":5}'),
  ofMethod('a URI of 9 MB', 'resources/read', () => `{"uri":"ringfence://files/${'a'.repeat(9 * MB)}"}`),
  ofMethod('an unknown URI of 9 MB', 'resources/read', () => `{"uri":"x:${'%25'.repeat(3 * MB)}"}`),
  ofMethod('an object', 'resources/list', () => '{"cursor":{}}'),
  ofMethod('a cursor of 9 MB', 'resources/list', () => `{"cursor":"r${'a'.repeat(9 * MB)}"}`, true),
  ofMethod('wrong types', 'completion/complete', () => '{"ref":7,"argument":[]}'),
  ofMethod(
    'many wrong types',
    'completion/complete',
    () => `{"context":{"arguments":{${numbered(900, (i) => `"k${i}":0`)}}}}`,
  ),
  ofMethod(
    'a value of 9 MB',
    'completion/complete',
    () =>
      `{"ref":{"type":"ref/resource","uri":"ringfence://{root}/{+path}"},"argument":{"name":"path","value":"${'a/'.repeat(4.5 * MB)}"}}`,
    true,
  ),
  ofMethod('many values', 'completion/complete', () => `{"ref":[${repeat('0', 90_000)}]}`),
  { name: 'tools/call without a name', message: () => request('tools/call', `{"arguments":[${repeat('0', 90_000)}]}`) },
  {
    name: 'tools/call with many wrong fields',
    message: () => request('tools/call', `{"name":5,"inputResponses":{${numbered(900, (i) => `"k${i}":0`)}}}`),
  },
];

const inRoot = (tool: string, args: string): string => call(tool, `{"root":"files",${args}}`);
const onlyWorkspace = (name: string, message: () => string, succeeds = false): Bomb => ({
  name,
  dialects: ['workspace'],
  message,
  succeeds,
});

/** The tools of the workspace dialect. */
const WORKSPACE: readonly Bomb[] = [
  onlyWorkspace('90,000 paths', () => inRoot('read_files', `"paths":[${numbered(90_000, (i) => `"f${i}"`)}]`), true),
  onlyWorkspace('90,000 wrong paths', () => inRoot('read_files', `"paths":[${repeat('{}', 45_000)}]`)),
  onlyWorkspace('a pattern of read_files', () => inRoot('read_files', `"pattern":"${'{*a,*b}'.repeat(9)}"`), true),
  onlyWorkspace(
    '30,000 edits',
    () => inRoot('edit_file', `"path":"small","edits":[${repeat('{"old_text":"x","new_text":"y"}', 30_000)}]`),
    true,
  ),
  onlyWorkspace('30,000 wrong edits', () =>
    inRoot('edit_file', `"path":"small","edits":[${repeat('{"a":1}', 30_000)}]`),
  ),
  onlyWorkspace('an edit of 9 MB', () =>
    inRoot('edit_file', `"path":"large","old_text":"${'b'.repeat(9 * MB)}","new_text":""`),
  ),
  onlyWorkspace('a patch of 9 MB of hunks', () =>
    inRoot('patch_file', `"path":"small","patch":"${'@@ -1,1 +1,1 @@\\n-x\\n+y\\n'.repeat(360_000)}"`),
  ),
  onlyWorkspace('a patch of 9 MB without a hunk', () =>
    inRoot('patch_file', `"path":"small","patch":"${'x\\n'.repeat(3 * MB)}"`),
  ),
  onlyWorkspace(
    'a patch of one huge hunk',
    () => inRoot('patch_file', `"path":"small","dry_run":true,"patch":"@@ -1,1 +1,1 @@\\n${'+y\\n'.repeat(2 * MB)}"`),
    true,
  ),
  onlyWorkspace('an if_match of 9 MB', () =>
    inRoot('remove_file', `"path":"small","if_match":"${'v'.repeat(9 * MB)}"`),
  ),
  onlyWorkspace('a root of 9 MB', () => call('list_folder', `{"path":".","root":"${'r'.repeat(9 * MB)}"}`)),
  onlyWorkspace('a glob of 9 MB', () => inRoot('glob', `"pattern":"${'a'.repeat(9 * MB)}"`)),
  ...[9, 10, 12].map((times) =>
    onlyWorkspace(`{*a,*b} ${times} times`, () => inRoot('glob', `"pattern":"**/${'{*a,*b}'.repeat(times)}"`), true),
  ),
  onlyWorkspace('20,000 groups', () => inRoot('glob', `"pattern":"${'+('.repeat(20_000)}"`)),
  onlyWorkspace('2,000 closed groups', () => inRoot('glob', `"pattern":"${nested(2_000, '+(', ')')}"`)),
  onlyWorkspace('100 excludes of {*a,*b}', () =>
    inRoot('glob', `"pattern":"**","exclude":[${repeat(`"${'{*a,*b}'.repeat(9)}"`, 100)}]`),
  ),
  onlyWorkspace('100,000 excludes', () => inRoot('glob', `"pattern":"**","exclude":[${repeat('"a"', 90_000)}]`)),
  onlyWorkspace('a name like 5,000 others', () => inRoot('read_file', `"path":"similar/${'n'.repeat(240)}"`)),
  onlyWorkspace('a write of an encoding of 9 MB', () =>
    inRoot('write_file', `"path":"w","content":"","encoding":"${'e'.repeat(9 * MB)}"`),
  ),
];

const entries = (count: number, more = ''): string =>
  numbered(count, (i) => `{"name":"${'ab'.repeat(100)}${i}","type":"file"${more}}`);
const onlyGuide = (name: string, message: () => string, succeeds = false): Bomb => ({
  name,
  dialects: ['guide'],
  message,
  succeeds,
});

/** The tools that take files of clients. */
const GUIDE: readonly Bomb[] = [
  onlyGuide('500,000 malformed entries', () =>
    call('guide_list_directory', `{"path":"docs","entries":[${repeat('{}', 500_000)}]}`),
  ),
  onlyGuide('45,000 malformed entries', () =>
    call('guide_list_directory', `{"path":"docs","entries":[${repeat('{}', 45_000)}]}`),
  ),
  onlyGuide('malformed entries in an entry', () =>
    call(
      'guide_list_directory',
      `{"path":"docs","entries":[{"name":"a","type":"directory","children":[${repeat('0', 90_000)}]}]}`,
    ),
  ),
  onlyGuide('20,000 malformed entries after right ones', () =>
    call('guide_list_directory', `{"path":"docs","entries":[${entries(9_000)},${repeat('{}', 20_000)}]}`),
  ),
  onlyGuide(
    '10,000 entries',
    () => call('guide_list_directory', `{"path":"docs","entries":[${entries(10_000, ',"size":1,"mtime":1')}]}`),
    true,
  ),
  onlyGuide('30,000 entries', () => call('guide_list_directory', `{"path":"docs","entries":[${entries(30_000)}]}`)),
  ...[4, 8, 9].map((times) =>
    onlyGuide(
      `10,000 entries times {*a,*b} ${times} times`,
      () =>
        call(
          'guide_list_directory',
          `{"path":"docs","pattern":"${'{*a,*b}'.repeat(times)}","entries":[${entries(10_000)}]}`,
        ),
      true,
    ),
  ),
  onlyGuide('900,000 empty files', () => call('guide_cache_file', `{"files":[${repeat('{}', 900_000)}]}`)),
  onlyGuide('30,000 small files', () =>
    call('guide_cache_file', `{"files":[${numbered(30_000, (i) => `{"path":"docs/${i}","content":""}`)}]}`),
  ),
  onlyGuide(
    '1,000 small files',
    () => call('guide_cache_file', `{"files":[${numbered(1_000, (i) => `{"path":"docs/${i}","content":""}`)}]}`),
    true,
  ),
  onlyGuide('a chunk of a billion', () =>
    call('guide_read_file', `{"path":"docs/c","content":"a","chunk":{"index":999999998,"total":999999999}}`),
  ),
];

const STDIO: readonly Bomb[] = [
  {
    name: '100,000 small messages in one piece',
    lines: true,
    succeeds: true,
    message: () => `${repeat('{"jsonrpc":"2.0","id":2,"method":"ping"}', 100_000, '\n')}\n${request('ping', '{}')}`,
  },
  {
    name: '1,000,000 empty lines',
    lines: true,
    succeeds: true,
    message: () => `${'\n'.repeat(MB)}${request('ping', '{}')}`,
  },
  {
    name: '100,000 lines that are not JSON',
    lines: true,
    succeeds: true,
    message: () => `${'x\n'.repeat(100_000)}${request('ping', '{}')}`,
  },
  {
    name: 'a line of 30 MB',
    lines: true,
    succeeds: true,
    message: () => `{"a":"${'a'.repeat(30 * MB)}"}\n${request('ping', '{}')}`,
  },
];

const DIALECTS: readonly DialectName[] = ['workspace', 'memory', 'classic', 'guide'];

/** A bomb and the dialect that it is thrown at. */
export interface Throw {
  readonly bomb: Bomb;
  readonly dialect: DialectName;
}

/** Every bomb at every dialect that it is for. */
export const ALL_THROWS: readonly Throw[] = [...GENERAL, ...PROTOCOL, ...WORKSPACE, ...GUIDE, ...STDIO].flatMap(
  (bomb) => (bomb.dialects ?? DIALECTS).map((dialect) => ({ bomb, dialect })),
);

/** Every bomb at one dialect, in turns. */
export const SOME_THROWS: readonly Throw[] = [...GENERAL, ...PROTOCOL, ...WORKSPACE, ...GUIDE, ...STDIO].map(
  (bomb, index) => {
    const dialects = bomb.dialects ?? DIALECTS;
    return { bomb, dialect: dialects[index % dialects.length] as DialectName };
  },
);
