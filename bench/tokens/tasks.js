import { PROJECT } from './project.js';

const { log, todo, symbol, users, several, moved } = PROJECT;
const PAGE = 200;
const TAIL = 50;
const TODO_LINE = '  // TODO: sort by date, newest first\n';
const SORTED = '  found.sort((a, b) => b.date - a.date);\n';
const NOTE = '# Notes\n\n- Prices are in cents.\n- Dates are in UTC.\n';

/**
 * Twelve everyday tasks, as a model does them that knows the tools of its server. `facts` have to be in what both models got;
 * both projects have to be the same afterwards. `searches` marks those that look for content, which the reference server cannot
 * do other than by reading every file.
 */
export const TASKS = [
  {
    name: 'look around a project',
    facts: ['billing', 'design.md', '1.4.2', '# Shop'],
    ours: async (s) => {
      await s.ok('list_roots', {});
      await s.tree('', 2);
      await s.use('read_file', { path: 'package.json' });
      await s.use('read_file', { path: 'README.md', limit_lines: 10 });
    },
    theirs: async (s) => {
      await s.use('list_allowed_directories');
      for (const folder of ['', 'src', 'docs', 'tests', 'logs']) await s.use('list_directory', { path: s.at(folder) });
      await s.use('read_text_file', { path: s.at('package.json') });
      await s.use('read_text_file', { path: s.at('README.md'), head: 10 });
    },
  },
  {
    name: 'find and fix a TODO',
    searches: true,
    facts: ['TODO: sort by date'],
    ours: async (s) => {
      const found = await s.use('grep', { pattern: 'TODO', path: 'src', context_lines: 3 });
      if (!found.includes(todo)) throw new Error('no TODO');
      await s.edit(todo, { old_text: TODO_LINE, new_text: SORTED });
    },
    theirs: async (s) => {
      await s.readAll('src', '**/*.ts');
      await s.use('edit_file', { path: s.at(todo), edits: [{ oldText: TODO_LINE, newText: SORTED }] });
    },
  },
  {
    name: 'rename a symbol in five files',
    searches: true,
    facts: users,
    ours: async (s) => {
      await s.use('grep', { pattern: `\\b${symbol}\\b`, path: 'src' });
      for (const file of users) await s.edit(file, { old_text: symbol, new_text: 'totalOf', replace_all: true });
    },
    theirs: async (s) => {
      await s.readAll('src', '**/*.ts');
      // An edit replaces one occurrence, which needs enough text around it to be the right one.
      const edits = [
        { oldText: `import { ${symbol} }`, newText: 'import { totalOf }' },
        { oldText: `=> ${symbol}(`, newText: '=> totalOf(' },
      ];
      for (const file of users) await s.use('edit_file', { path: s.at(file), edits });
    },
  },
  {
    name: 'page through a log',
    facts: ['request 0 ', 'request 399 ', 'request 599 '],
    ours: async (s) => {
      for (let page = 0; page < 3; page++) {
        await s.use('read_file', { path: log, offset_lines: page * PAGE + 1, limit_lines: PAGE });
      }
    },
    theirs: async (s) => {
      for (let page = 1; page <= 3; page++) await s.use('read_text_file', { path: s.at(log), head: page * PAGE });
    },
  },
  {
    name: 'read several files',
    facts: [],
    ours: (s) => s.readMany(several),
    theirs: (s) => s.use('read_multiple_files', { paths: several.map((file) => s.at(file)) }),
  },
  {
    name: 'find a file by name',
    facts: [todo],
    ours: (s) => s.use('glob', { pattern: '**/*invoice*' }),
    theirs: (s) => s.use('search_files', { path: s.at(''), pattern: '**/*invoice*' }),
  },
  {
    name: 'grep with context',
    searches: true,
    facts: ['totalOf(lines'],
    ours: (s) => s.use('grep', { pattern: 'totalOf\\(', context_lines: 2 }),
    theirs: (s) => s.readAll('', '**/*.ts'),
  },
  {
    name: 'list a folder tree',
    facts: ['invoice-7.ts', 'shipping'],
    ours: (s) => s.tree('src', 4),
    theirs: (s) => s.use('directory_tree', { path: s.at('src') }),
  },
  {
    name: 'edit after a wrong first try',
    facts: ['1.4.2'],
    ours: async (s) => {
      const change = (version) => ({
        old_text: `  "version": "${version}",`,
        new_text: '  "version": "2.0.0",',
      });
      await s.failedEdit('package.json', change('1.4.0'));
      await s.edit('package.json', change('1.4.2'));
    },
    theirs: async (s) => {
      const change = (version) => ({
        path: s.at('package.json'),
        edits: [{ oldText: `  "version": "${version}",`, newText: '  "version": "2.0.0",' }],
      });
      await s.fails('edit_file', change('1.4.0'));
      await s.use('read_text_file', { path: s.at('package.json') });
      await s.use('edit_file', change('1.4.2'));
    },
  },
  {
    name: 'create a file',
    facts: [],
    ours: (s) => s.use('write_file', { path: 'docs/notes.md', content: NOTE }),
    theirs: (s) => s.use('write_file', { path: s.at('docs/notes.md'), content: NOTE }),
  },
  {
    name: 'move a file',
    facts: [],
    ours: (s) => s.move(moved, 'docs/old-draft.md'),
    theirs: (s) => s.use('move_file', { source: s.at(moved), destination: s.at('docs/old-draft.md') }),
  },
  {
    name: 'read the end of a log',
    facts: ['request 4999 ', 'request 4951 '],
    ours: (s) => s.tail(log, TAIL),
    theirs: (s) => s.use('read_text_file', { path: s.at(log), tail: TAIL }),
  },
];
