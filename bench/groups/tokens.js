import fs from 'node:fs';
import path from 'node:path';
import { count } from '../figures.js';
import { REFERENCE, referenceOnStdio } from '../peers/reference.js';
import { ROOT, ringfenceOnStdio } from '../peers/ringfence.js';
import { RIPGREP, ripgrepForReader } from '../peers/ripgrep.js';
import { makeProject } from '../tokens/project.js';
import { OurSession, TheirSession } from '../tokens/session.js';
import { TASKS } from '../tokens/tasks.js';

/** A client that shows the model structured content where a result has any, so our server sends it text. */
const CLIENT = 'claude-code';
const TARGET = 0.7;
const GREP_TARGET = 1.1;
const TOOLS_LIMIT = 18_000;
const TEXT_TOOLS_LIMIT = 12_000;
const unit = 'characters';

/** Searches of a few and of many matches, with and without context. */
const SEARCHES = [
  { pattern: 'totalOf', contextLines: 3 },
  { pattern: '^export function', contextLines: 0 },
  { pattern: 'filter', contextLines: 2 },
];

/** What a model writes and gets to see for the same work: twelve tasks, scripted, on two copies of one project. */
export async function tokens({ scratch, config }) {
  const folders = { ours: path.join(scratch, 'tokens-ours'), theirs: path.join(scratch, 'tokens-theirs') };
  for (const folder of Object.values(folders)) makeProject(folder);
  const settings = config(folders.ours);
  const clients = { ours: ringfenceOnStdio(settings), theirs: referenceOnStdio(folders.theirs) };
  const unknown = ringfenceOnStdio(settings);
  try {
    await Promise.all([clients.ours, clients.theirs].map((client) => client.initialize(CLIENT)));
    await unknown.initialize();
    const [ours, theirs] = [await toolsOf(clients.ours), await toolsOf(clients.theirs)];
    const sessions = {
      ours: () => new OurSession(clients.ours, { tools: ours, root: ROOT, folder: folders.ours }),
      theirs: () => new TheirSession(clients.theirs, { tools: theirs, folder: folders.theirs }),
    };
    const done = [];
    for (const task of TASKS) done.push(await doBoth(task, sessions, folders));
    const plain = done.filter(({ task }) => !task.searches);
    return [
      ...done.map(rowOf),
      { ...together(`all ${done.length} tasks: results`, done), target: TARGET },
      { ...together(`the ${plain.length} without a search in content: results`, plain), target: TARGET },
      ...(await searchRows(sessions.ours(), folders.ours)),
      ...toolsRows(ours, await toolsOf(unknown), theirs),
    ];
  } finally {
    await Promise.all([...Object.values(clients), unknown].map((client) => client.close()));
  }
}

const toolsOf = async (client) => (await client.burst([{ method: 'tools/list' }])).results()[0].tools;

async function doBoth(task, sessions, folders) {
  const [ours, theirs] = [sessions.ours(), sessions.theirs()];
  await task.ours(ours);
  await task.theirs(theirs);
  const knows = ({ seen }) => task.facts.every((fact) => seen.includes(fact));
  return { task, ours, theirs, agrees: knows(ours) && knows(theirs) && areEqual(folders.ours, folders.theirs) };
}

function rowOf({ task, ours, theirs, agrees }) {
  const pair = (field) => `${count(ours[field])} : ${count(theirs[field])}`;
  return {
    work: task.name,
    against: REFERENCE,
    ours: ours.argumentChars + ours.resultChars,
    theirs: theirs.argumentChars + theirs.resultChars,
    unit,
    agrees,
    note: `calls ${pair('calls')}, arguments ${pair('argumentChars')}, results ${pair('resultChars')}`,
  };
}

function together(work, done) {
  const sum = (side, field) => done.reduce((total, one) => total + one[side][field], 0);
  return {
    work,
    against: REFERENCE,
    ours: sum('ours', 'resultChars'),
    theirs: sum('theirs', 'resultChars'),
    unit,
    agrees: done.every(({ agrees }) => agrees),
    note: `calls ${sum('ours', 'calls')} : ${sum('theirs', 'calls')}`,
  };
}

async function searchRows(session, folder) {
  const rows = [];
  for (const { pattern, contextLines } of SEARCHES) {
    const ours = await session.use('grep', { pattern, context_lines: contextLines, max_results: 10_000 });
    const theirs = await ripgrepForReader({ pattern, contextLines }, folder);
    rows.push({
      work: `grep ${pattern}, ${contextLines} lines of context`,
      against: `${RIPGREP} --heading -n`,
      ours: ours.length,
      theirs: theirs.length,
      unit,
      target: GREP_TARGET,
      agrees: matchedLines(ours).join('\n') === matchedLines(theirs).join('\n'),
    });
  }
  return rows;
}

const matchedLines = (text) => text.split('\n').filter((line) => /^\d+[:-]/.test(line));

function toolsRows(text, both, reference) {
  const [ours, all, theirs] = [text, both, reference].map((tools) => JSON.stringify(tools).length);
  const row = { unit, agrees: true };
  return [
    { ...row, work: 'tools/list', against: REFERENCE, ours, theirs },
    { ...row, work: 'tools/list', against: count(TEXT_TOOLS_LIMIT), ours, theirs: TEXT_TOOLS_LIMIT, target: 1 },
    {
      ...row,
      work: 'tools/list with output schemas',
      against: count(TOOLS_LIMIT),
      ours: all,
      theirs: TOOLS_LIMIT,
      target: 1,
    },
  ];
}

/** Whether two folders hold the same files with the same content. */
function areEqual(one, other) {
  const [files, others] = [one, other].map((folder) =>
    fs
      .readdirSync(folder, { recursive: true })
      .filter((name) => fs.statSync(path.join(folder, name)).isFile())
      .sort(),
  );
  const read = (folder, name) => fs.readFileSync(path.join(folder, name), 'utf8');
  return files.join('\n') === others.join('\n') && files.every((name) => read(one, name) === read(other, name));
}
