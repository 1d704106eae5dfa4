import type { ClientCapabilities } from '@modelcontextprotocol/server';

/** The capabilities of a client that calls depend on, as a session id names them. */
const FEATURES = {
  sampling: { sampling: {} },
  tools: { sampling: { tools: {} } },
  elicitation: { elicitation: {} },
  form: { elicitation: { form: {} } },
  url: { elicitation: { url: {} } },
} as const satisfies Record<string, ClientCapabilities>;

/** The name of such a capability. */
type ClientFeature = keyof typeof FEATURES;

/** Returns the names of what a client declared. */
export function featuresOf({ sampling, elicitation }: ClientCapabilities): ClientFeature[] {
  const has: Readonly<Record<ClientFeature, boolean>> = {
    sampling: sampling !== undefined,
    tools: sampling?.tools !== undefined,
    elicitation: elicitation !== undefined,
    form: elicitation?.form !== undefined,
    url: elicitation?.url !== undefined,
  };
  return (Object.keys(FEATURES) as ClientFeature[]).filter((feature) => has[feature]);
}

/**
 * Returns the capabilities of a client that declared what is named. Other names are passed over: a replica that was
 * updated already may know more of them.
 */
export function capabilitiesFrom(features: readonly string[]): ClientCapabilities {
  const declared = features.filter(isFeature).map((feature): ClientCapabilities => FEATURES[feature]);
  const sampling = declared.flatMap((one) => one.sampling ?? []);
  const elicitation = declared.flatMap((one) => one.elicitation ?? []);
  return {
    ...(sampling.length > 0 && { sampling: Object.assign({}, ...sampling) }),
    ...(elicitation.length > 0 && { elicitation: Object.assign({}, ...elicitation) }),
  };
}

function isFeature(name: string): name is ClientFeature {
  return Object.hasOwn(FEATURES, name);
}
