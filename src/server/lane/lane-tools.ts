import { callerWith } from '../call.ts';
import type { Service } from '../service.ts';
import { asJson } from './as-json.ts';
import type { LaneTools } from './lane.ts';

export function laneTools(service: Service): LaneTools {
  return { call: callerWith(service, asJson) };
}
