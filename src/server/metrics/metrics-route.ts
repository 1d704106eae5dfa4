import type { IncomingMessage } from 'node:http';
import { partitionStats } from '../clients/agent-files.ts';
import type { Principals } from '../clients/principals.ts';
import { authenticate, foreignOriginProblem, isLoopbackAddress } from '../http/access-control.ts';
import { answerProbe } from '../http/health.ts';
import type { HttpFigures, Mount } from '../http/http-server.ts';
import type { Route } from '../http/route.ts';
import { type HttpError, sendError } from '../http/sdk-response.ts';
import { mergeTexts } from './merge-texts.ts';
import type { Metrics } from './metrics.ts';
import type { MetricsSource } from './server-metrics.ts';

/** Options of `metricsRoute`. */
export interface MetricsRouteOptions extends Pick<MetricsSource, 'version' | 'fence'> {
  readonly metrics: Metrics;
  readonly mounts: readonly [Mount, ...Mount[]];
  /** The address that the server is bound to. */
  readonly host: string;
  /** Returns what HTTP clients take of the server. */
  http(): HttpFigures;
  /** Returns the metrics of all processes on this port; by default those of this one. */
  gather?: (() => Promise<readonly string[]>) | undefined;
}

/** Returns the metrics of this process. */
export function ownMetrics({ metrics, mounts, version, fence, http }: MetricsRouteOptions): Promise<string> {
  const [{ service: shared }] = mounts;
  return metrics.text({ shared, http: http(), agentFiles: partitionStats(mounts), version, fence });
}

const NOT_FOUND: HttpError = { status: 404, message: 'Not found' };
const NOT_FOR_THIS_TOKEN: HttpError = {
  status: 403,
  message: 'Forbidden: this token may not be used here; it has no console: true',
};

/** Serves `/metrics`, where there are tokens to those with `console: true` only. */
export function metricsRoute(options: MetricsRouteOptions): Route {
  const { metrics, mounts, host, gather } = options;
  const [{ service: shared }] = mounts;
  const loopbackOnly = isLoopbackAddress(host);
  return {
    path: '/metrics',
    handle: async (request, response) => {
      const refusal = refusalOf(request, shared.principals, loopbackOnly);
      if (refusal !== undefined) {
        shared.logger.warn({ address: request.socket.remoteAddress, problem: refusal.message }, 'request refused');
        return sendError(response, refusal);
      }
      if (request.url?.split('?', 1)[0] !== '/metrics') return sendError(response, NOT_FOUND);
      const body = gather === undefined ? await ownMetrics(options) : mergeTexts(await gather());
      answerProbe(request, response, { status: 200, type: metrics.registry.contentType, body });
    },
  };
}

/** Returns how to refuse a request of somebody who may not see the metrics. */
function refusalOf(
  request: IncomingMessage,
  principals: Principals | undefined,
  loopbackOnly: boolean,
): HttpError | undefined {
  const foreign = foreignOriginProblem(request, loopbackOnly);
  if (foreign !== undefined) return { status: 403, message: `Forbidden: ${foreign}` };
  const principal = principals && authenticate(request, principals);
  if (principal === undefined) return undefined;
  if ('status' in principal) return principal;
  return principal.console ? undefined : NOT_FOR_THIS_TOKEN;
}
