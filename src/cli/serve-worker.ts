import { ParentStore } from '../cluster/parent-store.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { serveParentProcess } from '../processes/serve-parent-process.ts';
import { atMost } from '../runtime/at-most.ts';
import type { SigningSecrets } from '../server/sessions/signing-keys.ts';
import type { Announcement } from './banner.ts';
import { retirementMs, startServing } from './serving.ts';

/** What a worker is told first. */
export interface WorkerStart {
  /** The config, with the port on which the parent listens. */
  readonly config: Config;
  /** Sign the ids of sessions and the like, where the config has no secrets for that. */
  readonly secrets: SigningSecrets;
}

/** What a worker says of itself when it has started. */
export type WorkerReport = Announcement;

serveParentProcess<WorkerStart>({
  start: async ({ config, secrets }, { number, channel }) => {
    const gatherMetrics = () => channel.call<string[]>('metrics of all');
    const common = { store: new ParentStore(channel), secrets };
    const serving = await startServing(config, {
      listens: false,
      handedOver: true,
      worker: number,
      common,
      outages: {
        lost: (problem) => channel.notify('redis lost', problem),
        back: () => channel.notify('redis back'),
      },
      gatherMetrics,
    });
    channel.onCall('metrics', () => serving.metrics());
    const { http, version, hardening, facts, base, port } = serving;
    return {
      report: { version, hardening, facts, base, port } satisfies WorkerReport,
      accept: (socket) => http.accept(socket),
      drain: () => void http.retire(),
      retire: async () => {
        await atMost(retirementMs(config), http.retire());
        await serving.stop({ reason: 'replaced' });
      },
      stop: () => serving.stop({}),
    };
  },
  refusal: (error) => (error instanceof ConfigError ? error.message : undefined),
});
