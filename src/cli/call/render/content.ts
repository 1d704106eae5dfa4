import { printable } from '../../../runtime/printable.ts';
import { formatSize } from '../../../wire/format-size.ts';
import { type Output, printNote, safeLine } from '../../terminal/output.ts';
import type { Fields } from './fields.ts';

/** Prints the content of a file as it is. Bytes that a terminal cannot show are only counted there. */
export function showContent(output: Output, { content, encoding, mime_type: type }: Fields): void {
  const text = String(content);
  if (encoding === 'base64') showBytes(output, Buffer.from(text, 'base64'), type);
  else showText(output, text);
}

/** Prints text, without what a terminal would act on. */
export function showText(output: Output, text: string): void {
  if (!output.isTerminal) output.bytes(Buffer.from(text));
  else if (text !== '')
    output.line(
      text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => safeLine(line.replace(/\r$/, '')))
        .join('\n'),
    );
}

/** Prints bytes into a pipe or a file, and only their number on a terminal. */
export function showBytes(output: Output, bytes: Uint8Array, type: unknown): void {
  if (!output.isTerminal) output.bytes(bytes);
  else {
    const kind = typeof type === 'string' ? ` of type ${printable(type)}` : '';
    printNote(`${formatSize(bytes.length)}${kind} that a terminal cannot show; send them to a file with > FILE`);
  }
}

/** Prints several files, each below its path. */
export function showFiles(output: Output, files: readonly Fields[]): void {
  for (const [at, file] of files.entries()) {
    if (at > 0) output.line();
    output.line(output.style('magenta', `==> ${printable(String(file.path))} <==`));
    if (typeof file.error === 'string') output.line(output.style('red', printable(file.error)));
    else if (file.encoding === 'base64')
      output.line(output.style('dim', `${String(file.size)} bytes that are not text`));
    else {
      showText(output, String(file.content ?? ''));
      if (!output.isTerminal && !String(file.content).endsWith('\n')) output.line();
    }
  }
}

/** Prints a unified diff, in colours on a terminal. */
export function showUnifiedDiff(output: Output, diff: string): void {
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const shown = output.isTerminal ? safeLine(line) : line;
    if (line.startsWith('+++') || line.startsWith('---')) output.line(output.style('bold', shown));
    else if (line.startsWith('+')) output.line(output.style('green', shown));
    else if (line.startsWith('-')) output.line(output.style('red', shown));
    else output.line(line.startsWith('@@') ? output.style('cyan', shown) : shown);
  }
}
