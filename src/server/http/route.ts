import type { IncomingMessage, ServerResponse } from 'node:http';

/** Something that is served beside MCP, such as a page for people. It decides itself who may use it. */
export interface Route {
  /** Begins with a slash. What is below it belongs to the route, too. */
  readonly path: string;
  /** Answers a request. The server counts it as running until the response is closed. */
  handle(request: IncomingMessage, response: ServerResponse): void | Promise<void>;
  /** Ends the responses that would stay open. Called when the server stops to accept requests. */
  close?(): void;
}

/** Returns the route that a path belongs to: it is that of the route, or below it. */
export function routeOf(routes: readonly Route[], path: string): Route | undefined {
  return routes.find((route) => path === route.path || path.startsWith(`${route.path}/`));
}
