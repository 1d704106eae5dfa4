import { IgnoreFile } from '../../fence/guard/gitignore.ts';
import { FILE_TYPES } from './file-types.ts';
import { SearchError } from './search-error.ts';

/**
 * Compiles the name of a type of files to a test of file names. Raises `invalid_pattern` for a type that does not
 * exist.
 */
export function compileFileType(type: string): (name: string) => boolean {
  const globs = Object.hasOwn(FILE_TYPES, type) ? FILE_TYPES[type] : undefined;
  if (globs === undefined) throw new SearchError('invalid_pattern', { problem: unknownType(type) });
  // The globs of types are a subset of ignore rules, which match in linear time and faster than minimatch.
  const names = new IgnoreFile(globs.replaceAll(' ', '\n'));
  return (name) => names.ignores([], name, false) === true;
}

function unknownType(type: string): string {
  const extension = `*.${type.replace(/^\*?\./, '').toLowerCase()}`;
  const near = Object.keys(FILE_TYPES).filter(
    (name) => FILE_TYPES[name]?.split(' ').includes(extension) || type === `.${name}`,
  );
  const advice =
    near.length === 0 ? 'types are those of ripgrep, like ts, js, py, rust, go, md' : `use ${near.join(' or ')}`;
  return `unknown file type "${type}"; ${advice}`;
}
