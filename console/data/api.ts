import type {
  Call,
  Change,
  Checkpoint,
  Conflict,
  Decided,
  Figures,
  FileDiff,
  Review,
  ServerState,
} from './api-types.ts';

const BASE = '/console/api';
/** Where the key of the page is kept. Unlike a cookie, storage belongs to one port of a host. */
const KEY = 'ringfence-console-key';

/** The server refused a request; the message is a sentence for the person who made it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status; 0 if the server could not be reached. */
  readonly status: number;
  readonly conflicts: readonly Conflict[];

  constructor(status: number, message: string, conflicts: readonly Conflict[] = []) {
    super(message);
    this.status = status;
    this.conflicts = conflicts;
  }
}

/** The requests that the console makes. Each rejects with `ApiError`. */
export const api = {
  signIn: async (token: string) => {
    const { key } = await post<{ key: string }>('/sign-in', { token });
    localStorage.setItem(KEY, key);
  },
  // The key goes even if the server cannot be told: without it, nobody can use the session from this page.
  signOut: () => post<void>('/sign-out', {}).finally(() => localStorage.removeItem(KEY)),
  state: () => get<ServerState>('/state'),
  figures: () => get<readonly Figures[]>('/figures'),
  calls: (limit: number, before?: number) =>
    get<{ calls: readonly Call[]; more: boolean }>(`/calls${query({ limit, before })}`),
  stop: (id: string | number) => post<void>(`/running/${encodeURIComponent(id)}/stop`, {}),
  answer: (id: string | number, answer: 'allow' | 'refuse') =>
    post<void>(`/approvals/${encodeURIComponent(id)}`, { answer }),
  changes: (root: string, limit: number, before?: string) =>
    get<{ changes: readonly Change[]; checkpoints: readonly Checkpoint[]; more: boolean }>(
      `/history/${encodeURIComponent(root)}${query({ limit, before })}`,
    ),
  change: (root: string, id: string) =>
    get<{ files: readonly FileDiff[]; truncated: boolean }>(
      `/history/${encodeURIComponent(root)}/${encodeURIComponent(id)}`,
    ),
  undo: (root: string, change: string, force: boolean) =>
    post<{ change: string }>(`/history/${encodeURIComponent(root)}/undo`, force ? { change, force } : { change }),
  review: (root: string, since?: string) => get<Review>(`/review/${encodeURIComponent(root)}${query({ since })}`),
  decide: (root: string, id: string, decision: 'accept' | 'take_back', files: Decided) =>
    post<{ change: string | null }>(`/review/${encodeURIComponent(root)}`, { id, decision, files }),
} as const;

/** Opens the stream of events. The browser connects again by itself unless the server refuses. */
export function openEvents(): EventSource {
  return new EventSource(`${BASE}/events${query({ key: pageKey() })}`);
}

function get<T>(path: string): Promise<T> {
  return request<T>(path, {});
}

function post<T>(path: string, body: object): Promise<T> {
  return request<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function request<T>(path: string, init: RequestInit): Promise<T> {
  const headers = { 'x-ringfence-console': pageKey(), ...init.headers };
  const response = await fetch(BASE + path, { ...init, headers, credentials: 'same-origin' }).catch(() => {
    throw new ApiError(0, 'The server cannot be reached.');
  });
  if (response.status === 204) return undefined as T;
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, sentence(body.error, response.status), body.conflicts);
  return body as T;
}

/** Returns the key that the last sign-in brought; before that, a word in its place. */
function pageKey(): string {
  return localStorage.getItem(KEY) ?? 'none';
}

function sentence(error: unknown, status: number): string {
  const text = typeof error === 'string' && error !== '' ? error : `the server answered with status ${status}`;
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

function query(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
