import { CommandError } from '../terminal/command-error.ts';
import { printNote } from '../terminal/output.ts';
import { canAsk, Questions } from '../terminal/questions.ts';

/** The flags of a command that changes files. */
export interface Consent {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/**
 * Reports whether a command may do what it has shown: with `--yes`, or if the person at the terminal agrees. False for
 * `--dry-run`. Raises `CommandError` if the person does not agree, or nobody is there to ask.
 */
export async function confirmed({ yes = false, dryRun = false }: Consent, question: string): Promise<boolean> {
  if (dryRun) {
    printNote('nothing was done (--dry-run)');
    return false;
  }
  if (yes) return true;
  if (!canAsk())
    throw new CommandError(
      'nothing was done: there is no terminal to ask on; give --yes to agree, or --dry-run to look only',
    );
  using questions = new Questions();
  if (await questions.confirm(question)) return true;
  throw new CommandError('nothing was done');
}
