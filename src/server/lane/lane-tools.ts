import { toolCaller } from '../call.ts';
import type { Service } from '../service.ts';
import type { LaneTools } from './lane.ts';

export function laneTools(service: Service): LaneTools {
  const sameText = service.dialect.tools.filter(({ text }) => text === undefined);
  return { call: toolCaller(service), sameText: new Set(sameText.map(({ name }) => name)) };
}
