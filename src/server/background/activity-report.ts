import type { ClientFigures } from '../../audit/activity.ts';
import type { SharedService } from '../call/service.ts';

const INTERVAL_MS = 5 * 60_000;

/** Logs the activity of clients on demand, besides the regular reports. */
export interface ActivityReport {
  /** Logs the figures of every known client. */
  all(): void;
  /** Logs a last report and stops. */
  stop(): void;
}

/** Logs every five minutes, and at the end, the figures of the clients that were active since the last report. */
export function reportActivity({ activity, logger }: Pick<SharedService, 'activity' | 'logger'>): ActivityReport {
  const log = ({ client, calls, errors, violations, deniedPaths, peakCalls }: ClientFigures): void => {
    const figures = { client, calls, errors, violations, denied_paths: deniedPaths, peak_calls_10s: peakCalls };
    logger.info(figures, 'client activity');
  };
  const news = (): void => activity?.takeChangedFigures().forEach(log);
  const timer = setInterval(news, INTERVAL_MS).unref();
  return {
    all: () => activity?.figures().forEach(log),
    stop: () => {
      clearInterval(timer);
      news();
    },
  };
}
