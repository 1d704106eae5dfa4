import { fenceFromEnvironment } from '../../config/fence-from-environment.ts';
import { chosenConfig } from '../../config/file/chosen-config.ts';
import { fakeSecrets } from '../../config/file/fake-secrets.ts';
import { examine } from '../../doctor/examine.ts';
import type { Finding } from '../../doctor/finding.ts';
import { printable } from '../../runtime/printable.ts';
import type { Style } from '../terminal/colours.ts';
import { Output } from '../terminal/output.ts';

/** The options of `ringfence doctor`. */
export interface DoctorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

const MARKS: Readonly<Record<Finding['state'], readonly [mark: string, style: Style]>> = {
  ok: ['ok     ', 'green'],
  info: ['       ', 'dim'],
  missing: ['missing', 'yellow'],
  failed: ['FAILED ', 'alarm'],
};

/** Shows what confines a server, and sets the exit code 1 if something is missing. Raises `ConfigError`. */
export async function doctor(dirs: readonly string[], { config: file, json }: DoctorFlags): Promise<void> {
  const output = new Output();
  const config = await chosenConfig(file, dirs, fakeSecrets());
  const findings = await examine(config, fenceFromEnvironment());
  const bad = findings.filter(({ state }) => state === 'missing' || state === 'failed');
  if (json) output.json({ healthy: bad.length === 0, findings });
  else show(output, findings, bad);
  if (bad.length > 0) process.exitCode = 1;
  await output.flushed();
}

function show(output: Output, findings: readonly Finding[], bad: readonly Finding[]): void {
  for (const area of new Set(findings.map((finding) => finding.area))) {
    const own = findings.filter((finding) => finding.area === area);
    const width = Math.max(...own.map(({ name }) => name.length));
    output.line(output.style('bold', area));
    for (const { name, state, detail, advice } of own) {
      const [mark, style] = MARKS[state];
      output.line(`  ${output.style(style, mark)}  ${name.padEnd(width)}  ${printable(detail)}`);
      if (advice !== undefined) output.line(`           ${' '.repeat(width)}  ${output.style('cyan', `→ ${advice}`)}`);
    }
  }
  output.line();
  output.line(
    bad.length === 0
      ? 'Nothing is missing.'
      : `${bad.length} of ${findings.length} need a look: ${bad.map(({ name }) => name).join(', ')}`,
  );
}
