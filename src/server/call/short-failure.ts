import { shorten } from '../../runtime/printable.ts';
import type { ArgumentProblem } from '../../tools/dialect.ts';
import type { CallError } from '../../tools/errors.ts';
import type { Arguments } from './running/call-request.ts';

/** How many characters of an argument, a path or a name an error shows. The longest of all errors stays below 64 KB. */
const SHOWN = 500;
/** How many characters of an explanation an error shows. */
const SHOWN_DETAIL = 2_000;
const SHOWN_ITEMS = 100;

/** Returns arguments for the text of an error, in which they may be repeated. */
export function shortArguments(args: Arguments): Arguments {
  let short = args;
  let names = 0;
  for (const name in args) {
    names += 1;
    // More are not looked at: no tool has so many.
    if (names > SHOWN_ITEMS) return short;
    const value = args[name];
    if (typeof value === 'string' && value.length > SHOWN) short = { ...short, [name]: shorten(value, SHOWN) };
  }
  return short;
}

/** Returns an error whose text may be sent: the same, but with long parts shortened. */
export function shortError(error: CallError): CallError {
  const { path, root, message, details } = error;
  const { instruction } = error as { instruction?: string };
  const parts = {
    path: path && shorten(path, SHOWN),
    root: root && shorten(root, SHOWN),
    message: shorten(message, SHOWN_DETAIL),
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, shortDetail(value)])),
    ...(instruction !== undefined && { instruction: shorten(instruction, SHOWN_DETAIL) }),
  };
  const properties = Object.entries(parts).map(([name, value]) => [name, { value }]);
  return Object.create(error, Object.fromEntries(properties));
}

/** Returns problems whose text may be sent. */
export function shortProblems(problems: readonly ArgumentProblem[]): ArgumentProblem[] {
  return problems.map((problem) => ({ ...problem, message: shorten(problem.message, SHOWN_DETAIL) }));
}

function shortDetail(value: unknown): unknown {
  if (typeof value === 'string') return shorten(value, SHOWN_DETAIL);
  if (!Array.isArray(value)) return value;
  return value.slice(0, SHOWN_ITEMS).map((item) => (typeof item === 'string' ? shorten(item, SHOWN) : item));
}
