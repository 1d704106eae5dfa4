import * as z from 'zod';
import type { Tool } from './tool.ts';

/** The JSON Schema keywords that the tables show. */
interface DocumentedSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly DocumentedSchema[];
  readonly items?: DocumentedSchema;
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Renders a tool's documentation as Markdown: its description, a table of its arguments and a list of its result
 * fields.
 */
export function schemaMarkdown(tool: Tool): string {
  const input = z.toJSONSchema(tool.input, { io: 'input' }) as DocumentedSchema;
  const output = z.toJSONSchema(tool.output) as DocumentedSchema;
  return [
    `### \`${tool.name}\``,
    '',
    tool.description.replaceAll('\n', '\n\n'),
    '',
    ...argumentTable(input),
    `Returns ${resultList(output)}.`,
    '',
  ].join('\n');
}

function argumentTable({ properties = {}, required = [] }: DocumentedSchema): string[] {
  const names = Object.keys(properties);
  if (names.length === 0) return ['No arguments.', ''];
  const rows = names.map((name) => {
    const schema = properties[name] ?? {};
    const need = required.includes(name) ? 'required' : 'default' in schema ? code(schema.default) : 'optional';
    return `| \`${name}\` | ${typeName(schema)} | ${need} | ${cell(schema.description ?? '')} |`;
  });
  return ['| argument | type | default | |', '| --- | --- | --- | --- |', ...rows, ''];
}

function resultList({ properties = {}, required = [] }: DocumentedSchema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? '' : '?';
    const note = schema.description === undefined ? '' : `: ${cell(schema.description).toLowerCase()}`;
    return `\`${name}${optional}\` (${typeName(schema)}${note})`;
  });
  return fields.join(', ');
}

function typeName(schema: DocumentedSchema): string {
  if (schema.enum) return schema.enum.map(code).join(' \\| ');
  if ('const' in schema) return code(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeName).join(' \\| ');
  if (schema.type === 'array') return `array of ${typeName(schema.items ?? {})}`;
  if (schema.properties) return `object { ${Object.keys(schema.properties).join(', ')} }`;
  if (Array.isArray(schema.type)) return schema.type.join(' \\| ');
  return `${schema.type ?? ('$ref' in schema ? 'object' : 'any')}${bounds(schema)}`;
}

/** Formats the bounds of a number. The bounds that zod adds for safe integers are left out. */
function bounds({ minimum, maximum }: DocumentedSchema): string {
  const low = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `≥ ${minimum}` : '';
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `≤ ${maximum}` : '';
  return low || high ? ` ${[low, high].filter(Boolean).join(', ')}` : '';
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value || '""' : JSON.stringify(value)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
