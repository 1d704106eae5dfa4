// Runs the official conformance suite (https://github.com/modelcontextprotocol/conformance) against servers of this build.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { EXPECTED, WITHOUT_FIXTURES } from './expected.js';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = path.join(REPOSITORY, 'node_modules/.cache/conformance');
/** The suite needs Node 22, which npm has as a package. */
const NODE_MAJOR = 22;
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;

/** The suites and the revisions of the protocol that each of them knows. */
export const SUITES = {
  '0.1.16': ['2025-06-18', '2025-11-25'],
  '0.2.0-alpha.12': ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
};

const aliasOf = (suite) => `conformance-${suite}`;
const entryOf = (suite) => path.join(CACHE, 'node_modules', aliasOf(suite), 'dist/index.js');
const hasNode = () => Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
const nodePath = () => (hasNode() ? process.execPath : path.join(CACHE, 'node_modules', NODE_PACKAGE, 'bin/node'));

/** Reports whether all suites are in the cache folder. */
export function isInstalled() {
  return [...Object.keys(SUITES).map(entryOf), nodePath()].every((file) => fs.existsSync(file));
}

/** Installs the suites into a cache folder of this checkout, from the npm registry. */
export function install() {
  fs.mkdirSync(CACHE, { recursive: true });
  fs.writeFileSync(path.join(CACHE, 'package.json'), '{ "private": true }\n');
  const packages = Object.keys(SUITES).map(
    (suite) => `${aliasOf(suite)}@npm:@modelcontextprotocol/conformance@${suite}`,
  );
  if (!hasNode()) packages.push(`${NODE_PACKAGE}@${NODE_MAJOR}`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...options, ...packages], { cwd: CACHE, stdio: 'inherit' });
}

/** The servers to test: how they are started, and which scenarios they have to pass. */
export const TARGETS = {
  real: {
    isScored: (scenario) => WITHOUT_FIXTURES.has(scenario),
    start: () =>
      startProcess(['dist/bin.js', 'serve', '--port', '0', 'docs'], (line) => /http:\S+\/mcp/.exec(line)?.[0]),
  },
  fixtures: {
    isScored: () => true,
    start: () => startProcess(['tests/conformance/fixture-server.js'], (line) => line),
  },
};

/** Starts a server and resolves with its URL, which it prints. */
async function startProcess(args, urlIn) {
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  child.stderr.resume();
  for await (const line of readline.createInterface({ input: child.stdout })) {
    const url = urlIn(line);
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      async stop() {
        child.kill();
        await ended;
      },
    };
  }
  throw new Error(`${args[0]} ended without printing its URL`);
}

/**
 * Runs the scenarios of one revision against one server. Resolves with how many scenarios and checks there were, and with what was
 * not as it should be: failures and warnings that are not expected.
 */
export async function runSuite({ suite, revision, target, url }) {
  const output = fs.mkdtempSync(path.join(os.tmpdir(), 'ringfence-conformance-'));
  try {
    const args = ['server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', output];
    const child = spawn(nodePath(), [entryOf(suite), ...args], { stdio: 'ignore' });
    await once(child, 'close');
    return summarize(readChecks(output), EXPECTED[suite], TARGETS[target].isScored);
  } finally {
    fs.rmSync(output, { recursive: true, force: true });
  }
}

/** Reads the checks that the suite wrote, one folder a scenario: `server-SCENARIO-TIME`. */
function readChecks(output) {
  return fs.readdirSync(output).flatMap((folder) => {
    const [, scenario] = /^server-(.*)-\d{4}-\d\d-\d\dT[\dZ-]+$/.exec(folder) ?? [];
    const checks = JSON.parse(fs.readFileSync(path.join(output, folder, 'checks.json'), 'utf8'));
    return checks.map((check) => ({ scenario, ...check }));
  });
}

function summarize(all, expected, isScored) {
  const checks = all.filter(({ scenario }) => isScored(scenario));
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  const problems = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const keyOf = ({ scenario, id }) => `${scenario} ${id}`;
  const seen = new Set(problems.map(keyOf));
  return {
    scenarios: new Set(checks.map(({ scenario }) => scenario)).size,
    passed,
    expected: Object.keys(expected).filter((key) => seen.has(key)),
    unexpected: problems
      .filter((problem) => !(keyOf(problem) in expected))
      .map((problem) => `${problem.status} ${keyOf(problem)}: ${problem.errorMessage ?? problem.description}`),
  };
}
