import type { Command } from 'commander';
import type { DoctorFlags } from './doctor.ts';

/** Adds the command that examines this installation. It loads its modules only when it runs. */
export function addDoctorCommands(program: Command): void {
  program
    .command('doctor')
    .summary('try what confines the server here')
    .description(
      'Say which fence, Landlock, koffi, Node, kernel and file system features are in use, prove each guard by trying to get past it, and say what to do about what is missing. Attempts are made in temporary folders and in a process of its own; in roots that may be changed, file system features are tried in a temporary folder that is removed again.',
    )
    .argument('[DIR...]', 'folders to be served (default: the roots of ringfence.yaml, or the current folder)')
    .option('--config <file>', 'the config of the server')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  ringfence doctor --config ringfence.yaml\n\nExit codes: 0 nothing is missing; 1 something is, or a guard does not hold; 2 a mistake in the command or the config.',
    )
    .action(async (dirs: string[], flags: DoctorFlags) => {
      const { doctor } = await import('./doctor.ts');
      await doctor(dirs, flags);
    });
}
