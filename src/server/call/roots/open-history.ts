import { ConfigError } from '../../../config/config-error.ts';
import { RingfenceError } from '../../../errors.ts';
import type { Root } from '../../../fence/index.ts';
import { History, type HistoryOptions } from '../../../history/index.ts';

/** Opens the history of a root. Raises `ConfigError` with what to do if that is not possible. */
export function openHistory(root: Root, options: HistoryOptions): Disposable {
  try {
    return History.open(root, options);
  } catch (error) {
    if (!(error instanceof RingfenceError)) throw error;
    throw new ConfigError(`the history of root ${root.name} cannot be opened: ${problemOf(error)}`);
  }
}

function problemOf({ code, details }: RingfenceError): string {
  switch (code) {
    case 'permission_denied':
      return 'the folder .ringfence in it must belong to the user of this server, who alone may enter it (mode 0700); change its owner or mode, or leave history out';
    case 'not_directory':
    case 'link_loop':
      return '.ringfence in it is not a folder; move it away, or leave history out';
    case 'read_only':
      return 'the file system is read-only; leave history out';
    case 'disk_full':
      return 'no space is left on the device; free some';
    default:
      return (details as { errno?: string }).errno ?? code;
  }
}
