import { callerWith } from '../call.ts';
import type { Service } from '../service.ts';
import { asJson } from './as-json.ts';
import type { LaneTools } from './lane.ts';

export function laneTools(service: Service): LaneTools {
  return {
    call: callerWith(service, asJson),
    // Only what was kept for this one call: others have their calls in common.
    forget: ({ kind, key }) => void (kind === 'anonymous' && service.agent?.drop(key)),
  };
}
