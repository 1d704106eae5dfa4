import { ApiError, api, openEvents } from './api.ts';
import type { Approval, Call, Figures, RunningCall, ServerState } from './api-types.ts';
import { MAX_CALLS } from './call-list.ts';
import { FilteredCalls } from './filtered-calls.ts';

/** What can change. A part of the page names what it shows. */
export type Topic = 'phase' | 'state' | 'calls' | 'figures' | 'running' | 'approvals' | 'notice';

/** Seconds that the plots show. */
const PLOTTED_SECONDS = 300;
const FIRST_PAGE = 500;
const PAGE = 5000;

export interface Notice {
  readonly text: string;
  readonly kind: 'info' | 'error';
}

/** What the page knows: the state of the server, kept current by its stream of events while someone is signed in. */
export class Session {
  phase: 'starting' | 'signed-out' | 'signed-in' = 'starting';
  /** Whether the stream of events is connected. */
  isLive = false;
  state: ServerState | undefined;
  running: readonly RunningCall[] = [];
  approvals: readonly Approval[] = [];
  figures: Figures[] = [];
  notice: Notice | undefined;
  calls = this.#emptyCalls();
  #events: EventSource | undefined;
  #clearNotice: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<(topic: Topic) => void>();

  /** Calls a function at every change, until the returned function is called. */
  subscribe(listener: (topic: Topic) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads everything, if someone is signed in. */
  async start(): Promise<void> {
    try {
      this.#take(await api.state());
    } catch (error) {
      if (this.phase === 'starting') this.#setPhase('signed-out');
      if (!(error instanceof ApiError && error.status === 401)) this.fail(error);
      return;
    }
    this.#setPhase('signed-in');
    this.#listen();
    await Promise.all([this.#readFigures(), this.#readCalls()]).catch((error) => this.fail(error));
  }

  async signOut(): Promise<void> {
    await api.signOut().catch(() => {});
    this.#end();
  }

  /** Reads what the events do not tell: roots, clients, tokens and caches. */
  async refresh(): Promise<void> {
    await api.state().then(
      (state) => this.#take(state),
      (error) => this.fail(error),
    );
  }

  /** Says something for a few seconds. */
  say(text: string, kind: Notice['kind'] = 'info'): void {
    clearTimeout(this.#clearNotice);
    this.notice = { text, kind };
    this.#changed('notice');
    this.#clearNotice = setTimeout(() => this.dismiss(), kind === 'error' ? 12_000 : 6000);
  }

  dismiss(): void {
    this.notice = undefined;
    this.#changed('notice');
  }

  /** Says what went wrong, or asks to sign in again if that is it. */
  fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) this.#end();
    else this.say(error instanceof Error ? error.message : String(error), 'error');
  }

  #end(): void {
    this.#events?.close();
    this.#events = undefined;
    this.isLive = false;
    this.state = undefined;
    this.running = [];
    this.approvals = [];
    this.figures = [];
    this.calls = this.#emptyCalls();
    this.#setPhase('signed-out');
  }

  #listen(): void {
    this.#events?.close();
    const events = openEvents();
    this.#events = events;
    const on = (name: string, take: (data: never) => void) =>
      events.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent).data) as never));
    on('calls', (calls: readonly Call[]) => this.calls.addNewer(calls));
    on('running', (running: readonly RunningCall[]) => {
      this.running = running;
      this.#changed('running');
    });
    on('approvals', (approvals: readonly Approval[]) => {
      this.approvals = approvals;
      this.#changed('approvals');
    });
    on('figures', (figures: Figures) => this.#addFigures([figures]));
    let wasOpen = false;
    events.addEventListener('open', () => {
      this.isLive = true;
      this.#changed('state');
      if (wasOpen) void this.#catchUp();
      wasOpen = true;
    });
    events.addEventListener('error', () => {
      this.isLive = false;
      this.#changed('state');
      // The browser gives up once the server answers with an error, as when the session is over.
      if (events.readyState === EventSource.CLOSED && this.#events === events) {
        setTimeout(() => this.#events === events && void this.#reopen(), 3000);
      }
    });
  }

  async #reopen(): Promise<void> {
    try {
      this.#take(await api.state());
      this.#listen();
      await this.#catchUp();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) this.#end();
      else setTimeout(() => this.phase === 'signed-in' && void this.#reopen(), 3000);
    }
  }

  /** Reads what happened while the stream was interrupted. */
  async #catchUp(): Promise<void> {
    await this.refresh();
    const { calls } = await api.calls(PAGE).catch(() => ({ calls: [] }));
    // A server that was started anew counts from the beginning.
    if ((calls[0]?.id ?? 0) < this.calls.newestId) {
      this.calls = this.#emptyCalls();
    }
    this.calls.addNewer([...calls].reverse());
    await this.#readFigures().catch(() => {});
  }

  async #readFigures(): Promise<void> {
    const figures = await api.figures();
    this.figures = [];
    this.#addFigures(figures);
  }

  async #readCalls(): Promise<void> {
    const list = this.calls;
    let page = await api.calls(FIRST_PAGE);
    list.addOlder(page.calls.filter(({ id }) => id < (list.oldestId ?? Number.POSITIVE_INFINITY)));
    while (page.more && list.total < MAX_CALLS && list === this.calls) {
      page = await api.calls(PAGE, list.oldestId);
      if (page.calls.length === 0) break;
      list.addOlder(page.calls);
    }
  }

  #addFigures(figures: readonly Figures[]): void {
    const newest = this.figures.at(-1)?.time ?? 0;
    this.figures = [...this.figures, ...figures.filter(({ time }) => time > newest)].slice(-PLOTTED_SECONDS);
    this.#changed('figures');
  }

  #take(state: ServerState): void {
    this.state = state;
    this.running = state.running;
    this.approvals = state.approvals;
    for (const topic of ['state', 'running', 'approvals'] as const) this.#changed(topic);
  }

  #emptyCalls(): FilteredCalls {
    return new FilteredCalls(() => this.#changed('calls'));
  }

  #setPhase(phase: Session['phase']): void {
    this.phase = phase;
    this.#changed('phase');
  }

  #changed(topic: Topic): void {
    for (const listener of this.#listeners) listener(topic);
  }
}
