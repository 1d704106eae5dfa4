import { isViolation } from '../../audit/record-call.ts';
import { escapeUnprintable, printable } from '../../runtime/printable.ts';
import { formatSize } from '../../wire/format-size.ts';
import { type Paint, paintFor } from './colours.ts';
import { localTime } from './local-time.ts';

/** A line of the log whose fields are not checked. */
export type LogFields = Readonly<Record<string, unknown>>;

const CLIENT_WIDTH = 16;
const TOOL_WIDTH = 16;
const OUTCOME_WIDTH = 14;
/** What the columns of a call show, and what only programs need. */
const SHOWN = new Set([
  ...['time', 'level', 'msg', 'tool', 'dialect', 'client', 'root', 'path', 'outcome', 'code', 'duration_ms'],
  ...['response_bytes', 'source_root', 'source_path', 'dest_root', 'dest_path', 'stack', 'violation'],
]);

/** Parses a line of the log; undefined for a line that is not JSON of an object. */
export function parseLogLine(line: string): LogFields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogFields;
  } catch {
    return undefined;
  }
}

/** Reports whether a line is about a finished call. */
export function isCall({ tool, outcome }: LogFields): boolean {
  return typeof tool === 'string' && typeof outcome === 'string';
}

/** Reports whether a line is about something that failed: a call, or what the server warns about. */
export function isFailure({ outcome, level }: LogFields): boolean {
  return outcome === 'error' || level === 'warn' || level === 'error' || level === 'fatal';
}

/** Returns how a line of the log is shown to people on a stream. Lines that are not JSON stay, with controls escaped. */
export function lineFormatFor(stream: { readonly isTTY?: boolean }): (line: string) => string {
  const paint = paintFor(stream);
  return (line) => {
    const fields = parseLogLine(line);
    if (fields === undefined) return line.split('\t').map(escapeUnprintable).join('\t');
    return isCall(fields) ? callLine(fields, paint) : messageLine(fields, paint);
  };
}

function callLine(fields: LogFields, paint: Paint): string {
  const { code, outcome, duration_ms: ms, response_bytes: bytes, violation } = fields;
  const isDenied = violation !== undefined || (typeof code === 'string' && isViolation(code));
  const word = outcome === 'success' ? 'ok' : isDenied ? `VIOLATION ${text(violation ?? code)}` : text(code ?? 'error');
  const style = outcome === 'success' ? 'green' : isDenied ? 'alarm' : code === 'internal' ? 'red' : 'yellow';
  return [
    paint('dim', timeOf(fields)),
    text(fields.client ?? '-').padEnd(CLIENT_WIDTH),
    paint('cyan', text(fields.tool).padEnd(TOOL_WIDTH)),
    // Padding stays without a colour, or it would look like a bar.
    paint(style, word) + ' '.repeat(Math.max(0, OUTCOME_WIDTH - word.length)),
    (typeof ms === 'number' ? formatDuration(ms) : '').padStart(8),
    (typeof bytes === 'number' ? formatSize(bytes, 'short') : '').padStart(7),
    [subjectOf(fields), paint('dim', fieldsText(fields, SHOWN))].filter(Boolean).join(' '),
  ]
    .join('  ')
    .trimEnd();
}

const HEAD = new Set(['time', 'level', 'msg', 'stack']);

function messageLine(fields: LogFields, paint: Paint): string {
  const { level, msg } = fields;
  const isAlarm = msg === 'security violation';
  const style = isAlarm
    ? 'alarm'
    : level === 'error' || level === 'fatal'
      ? 'red'
      : level === 'warn'
        ? 'yellow'
        : 'bold';
  const word = level === 'info' || level === undefined ? text(msg ?? '') : `${text(level)}: ${text(msg ?? '')}`;
  return `${paint('dim', timeOf(fields))}  ${paint(style, word)}  ${paint('dim', fieldsText(fields, HEAD))}`.trimEnd();
}

function subjectOf(fields: LogFields): string {
  const at = (root: unknown, path: unknown): string =>
    root === undefined && path === undefined ? '' : `${root === undefined ? '' : `${text(root)}:`}${text(path ?? '')}`;
  const from = at(fields.source_root, fields.source_path);
  const to = at(fields.dest_root, fields.dest_path);
  return from === '' && to === '' ? at(fields.root, fields.path) : `${from} → ${to}`;
}

function fieldsText(fields: LogFields, without: ReadonlySet<string>): string {
  return Object.entries(fields)
    .filter(([name]) => !without.has(name))
    .map(([name, value]) => `${text(name)}=${text(value)}`)
    .join(' ');
}

/** Writes a value on one line, without what a terminal would act on. */
function text(value: unknown): string {
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

function timeOf({ time }: LogFields): string {
  const ms = typeof time === 'string' ? Date.parse(time) : Number(time);
  return Number.isNaN(ms) ? text(time ?? '') : localTime(ms);
}

/** Writes a duration for people: `0.4 ms`, `12 ms`, `3.1 s`. */
export function formatDuration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
}
