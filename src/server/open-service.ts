import type { Dialect } from '../tools/dialect.ts';
import { forDialect, openSharedService, type Service, type SharedServiceOptions } from './call/service.ts';
import { describeServer } from './description/describe-server.ts';

export interface ServiceOptions extends SharedServiceOptions {
  readonly dialect: Dialect;
  /** The root that the tools of a dialect work on if they name none. */
  readonly boundRoot?: string | undefined;
}

/** Opens the roots of a config and makes them available in one dialect. Raises `ConfigError` for a root that cannot be opened. */
export function openService({ dialect, boundRoot, ...options }: ServiceOptions): Service {
  return forDialect(openSharedService(options), { dialect, description: describeServer(dialect), boundRoot });
}
