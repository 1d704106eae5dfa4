import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Call } from '../model/api-types.ts';
import type { Viewer } from '../model/viewers.ts';
import type { PendingApprovals } from './approval-queue.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { RunningList } from './running-list.ts';

/** How often events are sent. What happens in between is sent together. */
const TICK_MS = 200;
const SECOND_MS = 1_000;
/** How many calls are sent at once: more than a server answers in that time. The rest follows. */
const MAX_CALLS = 5_000;
/** A comment, so that proxies and clients see that the stream lives. */
const HEARTBEAT_MS = 15_000;
/** How long a reader may take nothing before its stream is ended. */
const STALLED_MS = 60_000;

/** Returns who watches a stream; undefined once that person is no longer signed in. */
export type StreamOwner = () => Viewer | undefined;

interface Sources {
  readonly recorder: CallRecorder;
  readonly running: RunningList;
  readonly approvals: PendingApprovals;
}

/**
 * Sends what happens to everybody who watches, in batches. A reader that is slow gets the next batch once it has read the
 * last one, so at most one waits in memory for each.
 */
export class EventStreams {
  readonly #sources: Sources;
  readonly #streams = new Set<EventStream>();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #maxStreams: number;

  constructor(sources: Sources, maxStreams = 50) {
    this.#sources = sources;
    this.#maxStreams = maxStreams;
    this.#timers = [
      setInterval(() => this.#tick(), TICK_MS).unref(),
      setInterval(() => this.#endSecond(), SECOND_MS).unref(),
    ];
  }

  /** Opens a stream, and reports whether there was room for one more. */
  open(request: IncomingMessage, response: ServerResponse, owner: StreamOwner): boolean {
    if (this.#streams.size >= this.#maxStreams) return false;
    const stream = new EventStream(response, owner, this.#sources);
    this.#streams.add(stream);
    request.socket.setTimeout(0);
    response.once('close', () => this.#streams.delete(stream));
    return true;
  }

  /** Ends the streams of those who are no longer signed in. */
  endSignedOut(): void {
    for (const stream of this.#streams) if (stream.owner() === undefined) stream.end();
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const stream of this.#streams) stream.end();
  }

  #tick(): void {
    this.endSignedOut();
    for (const stream of this.#streams) stream.tick();
  }

  #endSecond(): void {
    this.#sources.recorder.endSecond(Date.now());
  }
}

class EventStream {
  readonly owner: StreamOwner;
  readonly #response: ServerResponse;
  readonly #sources: Sources;
  #seenCall: number;
  #seenFigures = Date.now();
  #sentRunning = '[]';
  #sentApprovals = '[]';
  #lastWrite = Date.now();

  constructor(response: ServerResponse, owner: StreamOwner, sources: Sources) {
    this.owner = owner;
    this.#response = response;
    this.#sources = sources;
    this.#seenCall = sources.recorder.ring.newest;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Asks nginx not to collect events.
      'x-accel-buffering': 'no',
    });
    response.write('retry: 2000\n\n');
  }

  end(): void {
    this.#response.end();
  }

  /** Sends what is new, unless the reader has not read the last batch yet. */
  tick(): void {
    const now = Date.now();
    const { writableNeedDrain, writableEnded } = this.#response;
    // One that has ended stays until its reader has taken the rest. Nothing may be written to it.
    if (writableNeedDrain || writableEnded) {
      if (now - this.#lastWrite > STALLED_MS) this.#response.destroy();
      return;
    }
    const viewer = this.owner();
    const text = viewer === undefined ? '' : this.#news(viewer);
    if (text === '' && now - this.#lastWrite < HEARTBEAT_MS) return;
    this.#lastWrite = now;
    this.#response.write(text === '' ? ':\n\n' : text);
  }

  #news(viewer: Viewer): string {
    const { recorder, running, approvals } = this.#sources;
    const isVisible = (call: Call): boolean => viewer.sees(call);
    const { calls, seen } = recorder.ring.after(this.#seenCall, MAX_CALLS, isVisible);
    this.#seenCall = seen;
    let text = calls.length === 0 ? '' : event('calls', JSON.stringify(calls));
    const nowRunning = JSON.stringify(running.list(viewer));
    if (nowRunning !== this.#sentRunning) text += event('running', nowRunning);
    this.#sentRunning = nowRunning;
    const nowWaiting = JSON.stringify(approvals.list(viewer));
    if (nowWaiting !== this.#sentApprovals) text += event('approvals', nowWaiting);
    this.#sentApprovals = nowWaiting;
    const figures = recorder.figures(viewer).filter(({ time }) => time > this.#seenFigures);
    for (const each of figures) text += event('figures', JSON.stringify(each));
    this.#seenFigures = figures.at(-1)?.time ?? this.#seenFigures;
    return text;
  }
}

function event(name: string, json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`;
}
