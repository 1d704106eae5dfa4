import { createHash } from 'node:crypto';
import type { RootPath } from '../../fence/index.ts';
import { FileError, isFileError } from '../../files/errors.ts';
import type { Client } from '../../tools/client.ts';
import { type NotConfirmedReason, ToolError } from '../../tools/errors.ts';
import type { IntendedChange } from '../../tools/intended-change.ts';
import type { Roots } from '../../tools/roots.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import { named, type Survey, survey } from './survey.ts';

/** How many entries of a folder are counted. The question says if there are more. */
const MAX_ENTRIES = 100_000;
/** How often a person is asked about one call whose files change while the question is open. */
const MAX_QUESTIONS = 3;

/** A question to a person. */
export interface Confirmation {
  /** One line of plain text without host paths. */
  readonly message: string;
  /** Identifies the call and the state of its files: if they change, the question has another id. */
  readonly id: string;
  /** Where the call changes something, the most important place first. */
  readonly places: readonly { readonly root: string; readonly path: string }[];
}

/**
 * Asks a person to agree, and resolves with `agreed` or the reason why not. Rejects if the call is aborted.
 * There is one implementation for each way to reach a person.
 */
export type Confirm = (
  question: Confirmation,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
) => Promise<'agreed' | NotConfirmedReason>;

/** A call that somebody is asked about who does not sit at its client. */
export interface AskingCall {
  readonly tool: string;
  readonly client: Client;
  readonly clientName: string | undefined;
}

/** Reaches people who are not at the client, such as operators at a console. */
export interface Approvals {
  /** Asks one of them, as `Confirm` documents it. Resolves with `unsupported` if nobody may answer this. */
  ask(call: AskingCall, ...question: Parameters<Confirm>): ReturnType<Confirm>;
}

/** A call that a person may have to agree to. */
export interface ConfirmableCall {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: CallContext;
  readonly roots: Roots;
  /** Undefined if there is no way to ask anybody. */
  readonly confirm: Confirm | undefined;
  /** How long a person has to answer. */
  readonly timeoutMs: number;
}

/** The versions that the entries had to which a person agreed. */
export class Agreement {
  readonly #versions = new Map<string, string>();

  constructor(changes: readonly IntendedChange[], surveys: readonly Survey[]) {
    for (const [at, change] of changes.entries()) {
      const { version } = surveys[at] ?? {};
      if (version !== undefined) this.#versions.set(keyOf(change), version);
    }
  }

  /** Returns the version of an entry, or `absent`; undefined if nobody was asked about it. */
  versionAt(at: RootPath): string | undefined {
    return this.#versions.get(keyOf(at));
  }

  /**
   * Returns what a call fails with that was run on this agreement: `changed_meanwhile` if an entry was no longer the one
   * that the person agreed to, else the error itself.
   */
  failureOf(error: unknown): unknown {
    if (!isFileError(error, 'version_mismatch')) return error;
    const isOurs = [...this.#versions.values()].includes(error.details.expected);
    return isOurs
      ? new FileError('changed_meanwhile', {}, { path: error.path, root: error.root, cause: error })
      : error;
  }
}

/**
 * Asks a person about a call if one of the roots that it changes demands it, and returns what was agreed to; undefined if
 * nobody has to agree. The question is asked again if the files are not as they were by the time it is answered.
 *
 * Raises `not_confirmed` if the person does not agree, and then nothing is changed; `changed_meanwhile` if the files keep
 * changing; and what `Tool.changes`, `survey` and a dry run of the tool raise, so that nobody is asked about a call that
 * cannot succeed.
 */
export async function approve(call: ConfirmableCall): Promise<Agreement | undefined> {
  const { tool, args, context, confirm, timeoutMs } = call;
  if (!(await needsConfirmation(call))) return undefined;
  if (args.dry_run === false) await tool.run({ ...args, dry_run: true }, context);
  for (let left = MAX_QUESTIONS; left > 0; left -= 1) {
    const asked = await surveyAll(call);
    if (asked.message === undefined) return asked.agreement;
    const { message, id, places } = asked;
    const answer = (await confirm?.({ message, id, places }, { signal: context.signal, timeoutMs })) ?? 'unsupported';
    if (answer !== 'agreed') {
      const { root, path } = asked.first;
      const details = { reason: answer, seconds: timeoutMs / 1000 };
      throw new ToolError('not_confirmed', details, { path: path.raw, root: root.name });
    }
    const now = await surveyAll(call);
    if (now.id === id) return now.agreement;
  }
  throw new FileError('changed_meanwhile', {});
}

async function needsConfirmation({ tool, args, context, roots }: ConfirmableCall): Promise<boolean> {
  const changes = (await tool.changes?.(args, context)) ?? [];
  return changes.some(({ root, needs = tool.needs }) => {
    roots.use(root.name, needs);
    return roots.needConfirmation(root.name, needs);
  });
}

interface SurveyedCall {
  /** Undefined if the call cannot change anything: what it would remove or move is not there. */
  readonly message: string | undefined;
  readonly id: string;
  readonly first: IntendedChange;
  readonly places: Confirmation['places'];
  readonly agreement: Agreement;
}

async function surveyAll({ tool, args, context, confirm }: ConfirmableCall): Promise<SurveyedCall> {
  // Worked out again each time: where a copy ends depends on whether its destination is a folder.
  const changes = (await tool.changes?.(args, context)) ?? [];
  const surveys: Survey[] = [];
  // If nobody can be asked, what would be lost need not be counted.
  const maxEntries = confirm === undefined ? 0 : MAX_ENTRIES;
  for (const change of changes) surveys.push(await survey(change, maxEntries, context));
  const [first] = changes;
  if (first === undefined) throw new Error(`${tool.name} says that it changes nothing`);
  const sentences = surveys.map(({ sentence }, at) => {
    const change = changes[at];
    return at === 0 || change === undefined ? sentence : sentence && `at ${named(change)}: ${sentence}`;
  });
  const canHappen = sentences.every((sentence) => sentence !== undefined);
  const message = canHappen ? `Allow ${tool.name} on ${named(first)}? If so, ${sentences.join('; ')}.` : undefined;
  const states = surveys.map(({ state }) => state);
  const id = createHash('sha256')
    .update(JSON.stringify([message, args, states]))
    .digest('hex');
  const places = changes.map(({ root, path }) => ({ root: root.name, path: path.raw }));
  return { message, id, first, places, agreement: new Agreement(changes, surveys) };
}

function keyOf({ root, path }: RootPath): string {
  return `${root.name}/${path.segments.join('/')}`;
}
