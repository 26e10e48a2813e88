import type { EndedRun } from '../../ledger/operations/feed-runs.ts';
import type { RetentionRules } from '../../ledger/retention/rules.ts';
import type { Secrets } from '../provider.ts';
import type { PackedPush } from './packed-push.ts';

/** What the main thread tells the worker. */
export type ToWorker =
  | { kind: 'start'; settings: FeedSettings }
  /** `number` comes back with the answer. */
  | { kind: 'push'; number: number; push: PackedPush }
  | { kind: 'stop' };

export interface FeedSettings {
  ledgerUrl: string;
  /** Whether symbols without real prices get simulated ones. */
  demo: boolean;
  /** Settings that providers need, such as API keys. */
  secrets: Secrets;
  /** How long the ledger keeps what only grows. */
  retention: RetentionRules;
  /** Added to the system's clock, so that a test can choose the time. */
  clockSkewMs: number;
  /** Shared memory in which the worker counts how long its ledger calls take. */
  latency: SharedArrayBuffer;
}

/** What the worker tells the main thread. */
export type FromWorker =
  /** A write is committed: the board may follow it at once. */
  | { kind: 'written' }
  /** The first fill: so many symbols of so many are complete. */
  | { kind: 'progress'; done: number; total: number }
  /** History and the session so far are there. Said once. */
  | { kind: 'ready' }
  /** A turn is done: the thread works. */
  | { kind: 'turned' }
  /** A turn failed. The next one tries again. */
  | { kind: 'failed'; message: string }
  /** A run of a feed is over, however it ended. */
  | { kind: 'ran'; run: EndedRun }
  /** A feed's run failed. Its schedule says when it is tried again. */
  | { kind: 'error'; message: string }
  /** What became of a push, packed; or the push failed as a whole, and may be sent again. */
  | { kind: 'pushed'; number: number; outcomes: string }
  | { kind: 'not-pushed'; number: number; error: { message: string; code?: string; errno?: string } }
  /** The ledger is closed; nothing more comes. */
  | { kind: 'stopped' };
