import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runRingfence } from './support/ringfence-process.ts';

const { stdout: help } = await runRingfence(['--help']);
const COMMANDS = [...(help.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);

test('the help lists the commands', () => {
  expect(COMMANDS).toEqual(expect.arrayContaining(['serve', 'stdio', 'init', 'install', 'undo', 'completion']));
});

test.each(COMMANDS)('the help of %s has an example', async (name) => {
  const { code, stdout } = await runRingfence([name, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`Examples?:\\n(?:  .*\\n)*?  .*ringfence ${name}\\b`));
});

test.each([
  [['srve'], 'serve'],
  [['instal', 'cursor'], 'install'],
  [['undoo'], 'undo'],
  [['stdio', '--confg', 'x'], '--config'],
  [['docter'], 'doctor'],
  [['chekc'], 'check'],
  [['cal', 'read_file'], 'call'],
  [['check', '--jsn'], '--json'],
  [['doctor', '--confg', 'x'], '--config'],
  [['install', 'cursr'], 'cursor'],
  [['install', 'cursor', '--uninstal'], '--uninstall'],
])('%j gets the suggestion %s', async (args, meant) => {
  const { code, stderr } = await runRingfence(args);
  expect(code).toBe(2);
  expect(stderr.toLowerCase()).toContain(`(did you mean ${meant}?)`);
});

test('bash completes commands, options and clients', async () => {
  const { stdout: script } = await runRingfence(['completion', 'bash']);
  const complete = (...words: string[]): string[] => {
    const line = words.map((word) => `'${word}'`).join(' ');
    const run = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _ringfence; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', `${script}\n${run}`], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
  };
  expect(complete('ringfence', '')).toEqual(expect.arrayContaining(COMMANDS));
  expect(complete('ringfence', 'ins')).toEqual(['install']);
  expect(complete('ringfence', 'install', 'c')).toEqual(['claude-code', 'claude-desktop', 'cursor', 'codex']);
  expect(complete('ringfence', 'install', 'cursor', '--u')).toEqual(['--uninstall']);
  expect(complete('ringfence', 'call', 'read')).toEqual(['read_file', 'read_files']);
  expect(complete('ringfence', 'call', 'grep', '--d')).toEqual(['--dialect']);
  expect(complete('ringfence', 'doctor', '--')).toEqual(['--config', '--json', '--help']);
});

test.each(['zsh', 'fish'])('the script for %s names every command and passes its syntax check', async (shell) => {
  const { code, stdout } = await runRingfence(['completion', shell]);
  expect(code).toBe(0);
  for (const name of COMMANDS) expect(stdout).toContain(name);
  expect(stdout).toContain('claude-desktop');
  try {
    execFileSync(shell, ['--version'], { stdio: 'pipe' });
  } catch {
    return;
  }
  execFileSync(shell, ['-n'], { input: stdout, stdio: ['pipe', 'pipe', 'pipe'] });
});
