import type { Dialect } from '../tools/dialect.ts';
import { openHistory } from './call/roots/open-history.ts';
import { forDialect, openSharedService, type Service, type SharedServiceOptions } from './call/service.ts';
import { describeServer } from './description/describe-server.ts';
import { withHonestAnnotations } from './description/server-description.ts';

/** Options of `openService`. */
export interface ServiceOptions extends SharedServiceOptions {
  readonly dialect: Dialect;
  /** The root that the tools of a dialect work on if they name none. */
  readonly boundRoot?: string | undefined;
}

/**
 * Opens the roots of a config and serves them in one dialect, for a program that embeds the server. Raises
 * `ConfigError` for a root or a history that cannot be opened. Close the service after the last call.
 *
 * @example
 * const service = openService({ config: configFromDirs(['docs']), dialect: workspace, logger: openLog('info').logger });
 * const http = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
 * …
 * await http.close(0);
 * await service.close();
 */
export function openService({ dialect, boundRoot, ...options }: ServiceOptions): Service {
  const described = describeServer(dialect);
  const description = options.config.annotations === 'honest' ? withHonestAnnotations(described) : described;
  return forDialect(openSharedService({ openHistory, ...options }), { dialect, description, boundRoot });
}
