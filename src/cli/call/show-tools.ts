import type { ListedTool } from '../../client/mcp-client.ts';
import { printable } from '../../runtime/printable.ts';
import { type Output, safeLine } from '../terminal/output.ts';
import { tableLines } from '../terminal/table.ts';
import { describeType, type Schema } from './schema.ts';

/** Prints the tools of a server: name, arguments and the first sentence of what each does. */
export function showTools(output: Output, tools: readonly ListedTool[]): void {
  const width = Math.max(0, ...tools.map(({ name }) => name.length));
  for (const { name, description = '', inputSchema } of tools) {
    const schema = inputSchema as Schema;
    const words = Object.keys(schema.properties ?? {}).map((key) =>
      schema.required?.includes(key) ? `${key}=` : `[${key}=]`,
    );
    const [sentence = ''] = /^.*?[.:](?=\s|$)/s.exec(description) ?? [description];
    output.line(`${output.style('cyan', printable(name).padEnd(width))}  ${safeLine(sentence.replace(/:$/, '.'))}`);
    if (words.length > 0) output.line(`${' '.repeat(width)}  ${output.style('dim', words.join(' '))}`);
  }
}

/** Prints what a tool does and takes. */
export function showTool(output: Output, { name, description = '', inputSchema }: ListedTool): void {
  const schema = inputSchema as Schema;
  output.line(output.style('bold', printable(name)));
  for (const line of description.split('\n')) output.line(`  ${safeLine(line)}`);
  const rows = Object.entries(schema.properties ?? {}).map(([key, property]) => [
    `  ${key}`,
    describeType(property),
    schema.required?.includes(key)
      ? 'required'
      : property.default === undefined
        ? ''
        : `default ${String(property.default)}`,
    safeLine(property.description ?? ''),
  ]);
  if (rows.length > 0) output.line();
  for (const line of tableLines(rows)) output.line(line);
}
