import fs from 'node:fs';
import path from 'node:path';
import { toolCall } from '../clients/stdio.js';

/**
 * A model at work with one server: makes calls and counts the characters that it writes as arguments and gets as results.
 * What a model gets is what Claude Code shows it: structured content as JSON where there is any, else the text.
 */
class Session {
  #client;
  #tools;
  calls = 0;
  argumentChars = 0;
  resultChars = 0;
  /** Everything that the model got to see. */
  seen = '';

  constructor(client, tools) {
    this.#client = client;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** Whether the server has a tool, and the tool an argument. */
  has(tool, argument) {
    return this.#tools.has(tool) && (argument === undefined || argument in this.schemaOf(tool));
  }

  /** The arguments of a tool by name. */
  schemaOf(tool) {
    return this.#tools.get(tool).inputSchema.properties;
  }

  /** Makes a call, which may fail, and returns what the model gets. */
  async call(tool, args) {
    const { answers } = await this.#client.burst([toolCall(tool, args)]);
    const [{ result, error }] = answers();
    if (error !== undefined) throw new Error(`protocol error ${error.code}: ${error.message}`);
    const text = shownToModel(result);
    this.calls += 1;
    this.argumentChars += JSON.stringify(args).length;
    this.resultChars += text.length;
    this.seen += `${text}\n`;
    return { text, isError: result.isError === true };
  }

  /** Makes a call that has to succeed. */
  async ok(tool, args) {
    const { text, isError } = await this.call(tool, args);
    if (isError) throw new Error(`${tool} ${JSON.stringify(args)}: ${text}`);
    return text;
  }
}

function shownToModel({ structuredContent, content }) {
  if (structuredContent !== undefined) return JSON.stringify(structuredContent);
  return content.map(({ text = '' }) => text).join('\n');
}

/** Our server, with the verbs that the tasks are written in. */
export class OurSession extends Session {
  #root;
  #folder;

  constructor(client, { tools, root, folder }) {
    super(client, tools);
    this.#root = root;
    this.#folder = folder;
  }

  use(tool, args = {}) {
    return this.ok(tool, { root: this.#root, ...args });
  }

  async readMany(paths) {
    if (this.has('read_files')) await this.use('read_files', { paths });
    else for (const path of paths) await this.use('read_file', { path });
  }

  async tree(folder, depth) {
    if (this.has('list_folder', 'depth')) await this.use('list_folder', { path: folder, depth });
    else await this.use('glob', { path: folder, pattern: '**', max_depth: depth });
  }

  async tail(file, lines) {
    if (this.#reads()) return this.use('read_file', { path: file, offset_lines: -lines });
    const total = fs.readFileSync(this.#at(file), 'utf8').split('\n').length - 1;
    await this.use('read_file', { path: file, limit_lines: 1 });
    return this.use('read_file', { path: file, offset_lines: total - lines + 1 });
  }

  async edit(file, change) {
    if (this.has('edit_file')) return this.use('edit_file', { path: file, ...change });
    const text = fs.readFileSync(this.#at(file), 'utf8');
    await this.use('read_file', { path: file });
    return this.use('write_file', { path: file, content: text.replaceAll(change.old_text, change.new_text) });
  }

  /** An edit whose old text is not in the file. */
  async failedEdit(file, change) {
    if (!this.has('edit_file')) return;
    const { isError } = await this.call('edit_file', { root: this.#root, path: file, ...change });
    if (!isError) throw new Error(`edit of ${file} succeeded`);
  }

  move(source, destination) {
    const [source_root, dest_root] = [this.#root, this.#root];
    return this.ok('move', { source_root, source_path: source, dest_root, dest_path: destination });
  }

  /** Whether lines can be counted from the end. */
  #reads() {
    return this.schemaOf('read_file').offset_lines.minimum !== 1;
  }

  #at(name) {
    return path.join(this.#folder, name);
  }
}

/** The reference server, whose paths are absolute. */
export class TheirSession extends Session {
  #folder;

  constructor(client, { tools, folder }) {
    super(client, tools);
    this.#folder = folder;
  }

  at(name) {
    return path.join(this.#folder, name);
  }

  use(tool, args = {}) {
    return this.ok(tool, args);
  }

  /** A call that is expected to fail. */
  async fails(tool, args) {
    const { isError } = await this.call(tool, args);
    if (!isError) throw new Error(`${tool} succeeded`);
  }

  /** Finds out what is in files, by reading all of them: there is no search in content. */
  async readAll(folder, pattern) {
    const found = await this.use('search_files', { path: this.at(folder), pattern });
    const paths = JSON.parse(found).content.split('\n');
    await this.use('read_multiple_files', { paths });
  }
}
