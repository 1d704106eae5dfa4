/** One finished call of a tool. Ids grow with time. Times are milliseconds since 1970, here and below. */
export interface Call {
  readonly id: number;
  readonly time: number;
  readonly client: string | null;
  readonly token: string | null;
  readonly tool: string;
  readonly dialect: string;
  readonly root: string | null;
  readonly path: string | null;
  readonly outcome: 'success' | 'error';
  readonly code: string | null;
  readonly violation: boolean;
  readonly duration_ms: number;
  readonly response_bytes: number;
  readonly change: string | null;
}

/** A call that has not ended yet. */
export interface RunningCall {
  readonly id: number;
  readonly tool: string;
  readonly dialect: string;
  readonly root: string | null;
  readonly path: string | null;
  readonly client: string | null;
  readonly started: number;
  readonly progress: { readonly done: number; readonly total: number | null } | null;
}

/** A call that waits for a person to allow or to refuse it. */
export interface Approval {
  readonly id: string;
  readonly time: number;
  readonly expires: number;
  readonly tool: string;
  readonly root: string | null;
  readonly path: string | null;
  readonly client: string | null;
  readonly message: string;
  /** Whether it was made with the token that is signed in, which may not answer it. */
  readonly own: boolean;
}

/** What happened in one second. */
export interface Figures {
  readonly time: number;
  readonly calls: number;
  readonly errors: number;
  readonly violations: number;
  readonly tools: Readonly<Record<string, ToolFigures>>;
}

interface ToolFigures {
  readonly calls: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
}

export interface RootState {
  readonly name: string;
  readonly kind: 'folder' | 'agent';
  readonly allowed_tools: readonly string[];
  readonly read_only: boolean;
  readonly guards: { readonly deny: number; readonly protect: number; readonly confirm: readonly string[] };
  readonly history: {
    readonly changes: number;
    readonly kept_bytes: number;
    readonly max_bytes: number;
    readonly keep_seconds: number;
  } | null;
}

export interface ClientState {
  readonly client: string;
  readonly token: string | null;
  readonly calls: number;
  readonly errors: number;
  readonly violations: number;
  readonly last_seen: number;
  readonly sessions: number;
}

export interface TokenState {
  readonly name: string;
  readonly roots: readonly string[];
  readonly console: boolean;
}

export interface CacheState {
  readonly root: string;
  readonly entries: number;
  readonly bytes: number;
  readonly max_bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export interface ServerState {
  readonly version: string;
  readonly started: number;
  /** Who is signed in; `may_undo` says whether changes may be undone and decided on. */
  readonly me: { readonly name: string; readonly roots: readonly string[]; readonly may_undo: boolean };
  readonly roots: readonly RootState[];
  readonly clients: readonly ClientState[];
  readonly tokens: readonly TokenState[];
  readonly cache: readonly CacheState[];
  readonly approvals: readonly Approval[];
  readonly running: readonly RunningCall[];
}

export interface Change {
  readonly id: string;
  readonly time: number;
  readonly client: string | null;
  readonly tool: string;
  readonly paths: readonly string[];
  readonly files: number;
  readonly undone: boolean;
}

export interface Checkpoint {
  readonly name: string;
  readonly time: number;
}

export interface Hunk {
  /** Stays the same for as long as the lines do. */
  readonly id: string;
  readonly header: string;
  /** Each with its leading ` `, `+` or `-`. */
  readonly lines: readonly string[];
}

export interface FileDiff {
  readonly path: string;
  readonly from: string | null;
  readonly status: 'added' | 'removed' | 'changed' | 'moved';
  readonly kind: 'file' | 'folder' | 'link';
  /** The folder that it was removed or added with, and is decided on with; null if it stands for itself. */
  readonly part_of: string | null;
  /** Why no lines are shown; null if they are, or if none differ. */
  readonly hidden: 'binary' | 'large' | 'lost' | null;
  /** Whether its hunks can be decided on one by one. */
  readonly divisible: boolean;
  readonly hunks: readonly Hunk[];
}

export interface Review {
  readonly since: Checkpoint | null;
  /** Stands for what is shown, so that a decision is about nothing newer. */
  readonly id: string;
  readonly files: readonly FileDiff[];
  readonly truncated: boolean;
}

export interface Conflict {
  readonly path: string;
  readonly reason: string;
}

/** What a decision of a review is about. */
export type Decided = 'all' | readonly { readonly path: string; readonly hunks?: readonly Hunk['id'][] }[];
