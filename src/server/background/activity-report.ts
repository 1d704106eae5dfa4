import type { ClientFigures } from '../../audit/activity.ts';
import type { SharedService } from '../call/service.ts';

const INTERVAL_MS = 5 * 60_000;

export interface ActivityReport {
  /** Logs the figures of every client that is remembered. */
  all(): void;
  /** Logs what is new a last time. */
  stop(): void;
}

/** Logs what clients did: of those who did something, every five minutes and at the end. */
export function reportActivity({ activity, logger }: Pick<SharedService, 'activity' | 'logger'>): ActivityReport {
  const log = ({ client, calls, errors, violations, deniedPaths, peakCalls }: ClientFigures): void => {
    const figures = { client, calls, errors, violations, denied_paths: deniedPaths, peak_calls_10s: peakCalls };
    logger.info(figures, 'client activity');
  };
  const news = (): void => activity?.news().forEach(log);
  const timer = setInterval(news, INTERVAL_MS).unref();
  return {
    all: () => activity?.figures().forEach(log),
    stop: () => {
      clearInterval(timer);
      news();
    },
  };
}
