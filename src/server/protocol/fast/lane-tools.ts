import { callerWith } from '../../call/call-tool.ts';
import type { Service } from '../../call/service.ts';
import { asJson } from './as-json.ts';
import type { FastTools } from './fast-path.ts';

export function fastTools(service: Service): FastTools {
  return {
    call: callerWith(service, asJson),
    // Only what was kept for this one call: others have their calls in common.
    forget: ({ kind, key }) => void (kind === 'anonymous' && service.agentFiles?.drop(key)),
  };
}
