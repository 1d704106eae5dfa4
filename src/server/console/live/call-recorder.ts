import { type CallEvent, isViolation } from '../../../audit/record-call.ts';
import { escapeUnprintable } from '../../../runtime/printable.ts';
import type { Client } from '../../../tools/client.ts';
import type { Call, Figures } from '../model/api-types.ts';
import type { Viewer, Viewers } from '../model/viewers.ts';
import { CallRing } from './call-ring.ts';
import { ClientTallies } from './client-tallies.ts';
import { SecondFigures } from './figures.ts';

/** The most characters that are kept of what clients choose. */
const MAX_PATH = 400;
const MAX_NAME = 100;

interface Watched {
  readonly figures: SecondFigures;
  readonly tallies: ClientTallies;
}

/** Remembers finished calls, and counts them for each viewer, who sees only some of them. */
export class CallRecorder {
  readonly ring: CallRing;
  readonly #viewers: Viewers;
  readonly #watched = new WeakMap<Viewer, Watched>();

  constructor(viewers: Viewers, ring = new CallRing()) {
    this.ring = ring;
    this.#viewers = viewers;
  }

  /** A `CallObserver`. */
  readonly observe = (event: CallEvent): void => {
    const call = toCall(event);
    this.ring.add(call);
    for (const viewer of this.#viewers.all) {
      if (!viewer.sees(call)) continue;
      const { figures, tallies } = this.#of(viewer);
      figures.add(call);
      tallies.add(call);
    }
  };

  /** Ends a second for all viewers. */
  endSecond(time: number): void {
    for (const viewer of this.#viewers.all) this.#of(viewer).figures.endSecond(time);
  }

  figures(viewer: Viewer): readonly Figures[] {
    return this.#of(viewer).figures.kept;
  }

  clients(viewer: Viewer): ReturnType<ClientTallies['all']> {
    return this.#of(viewer).tallies.all();
  }

  #of(viewer: Viewer): Watched {
    const known = this.#watched.get(viewer);
    if (known !== undefined) return known;
    const watched = { figures: new SecondFigures(), tallies: new ClientTallies() };
    this.#watched.set(viewer, watched);
    return watched;
  }
}

function toCall(event: CallEvent): Omit<Call, 'id'> {
  const { failure } = event;
  return {
    time: Date.now(),
    client: shownClient(event.client, event.clientName),
    token: tokenOf(event.client),
    tool: shortened(event.tool, MAX_NAME) ?? '',
    dialect: event.dialect,
    root: shortened(event.root, MAX_NAME) ?? null,
    path: shortened(event.path, MAX_PATH) ?? null,
    outcome: failure === undefined ? 'success' : 'error',
    code: failure?.code ?? null,
    violation: failure !== undefined && isViolation(failure.code),
    duration_ms: Math.round(event.durationMs * 1000) / 1000,
    response_bytes: event.responseBytes,
    change: event.change?.change ?? null,
  };
}

/** Returns how a client is called: as its program declares itself, else by its token or session. */
export function shownClient({ name }: Client, declared: string | undefined): string | null {
  return shortened(declared, MAX_NAME) || (name ?? null);
}

/** Returns the name of a client's token. */
export function tokenOf({ kind, name }: Client): string | null {
  return kind === 'principal' ? (name ?? null) : null;
}

/** Returns text that is safe to keep and to show: a copy, because a part of a string keeps the whole in memory. */
function shortened(text: string | undefined, length: number): string | undefined {
  if (text === undefined || text.length <= length) return text === undefined ? undefined : escapeUnprintable(text);
  return escapeUnprintable(`${Buffer.from(text.slice(0, length)).toString()}…`);
}
