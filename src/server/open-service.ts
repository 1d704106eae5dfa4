import type { Dialect } from '../tools/dialect.ts';
import { forDialect, openSharedService, type Service, type SharedServiceOptions } from './call/service.ts';
import { describeServer } from './description/describe-server.ts';

export interface ServiceOptions extends SharedServiceOptions {
  readonly dialect: Dialect;
  /** The root that the tools of a dialect work on if they name none. */
  readonly boundRoot?: string | undefined;
}

/**
 * Opens the roots of a config and makes them available in one dialect, for a program that serves them itself. Raises
 * `ConfigError` for a root that cannot be opened. Close the service when no more calls come.
 *
 * @example
 * const service = openService({ config: configFromDirs(['docs']), dialect: workspace, logger: openLog('info').logger });
 * const http = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
 * …
 * await http.close(0);
 * await service.close();
 */
export function openService({ dialect, boundRoot, ...options }: ServiceOptions): Service {
  return forDialect(openSharedService(options), { dialect, description: describeServer(dialect), boundRoot });
}
