import type { EndedRun } from '../../ledger/operations/feed-runs.ts';
import type { RetentionRules } from '../../ledger/retention/rules.ts';
import type { ThreadError } from '../../runtime/threads/thread-error.ts';
import type { Secrets } from '../provider.ts';
import type { PackedPush } from './packed-push.ts';

/** Messages from the main thread to the worker. */
export type ToWorker =
  | { kind: 'start'; settings: FeedSettings }
  /** The reply carries the same `number`. */
  | { kind: 'push'; number: number; push: PackedPush }
  | { kind: 'stop' };

export interface FeedSettings {
  ledgerUrl: string;
  /** Whether symbols without real prices get simulated ones. */
  demo: boolean;
  /** Settings that providers need, such as API keys. */
  secrets: Secrets;
  /** How long the ledger keeps data that only grows. */
  retention: RetentionRules;
  /** Added to the system clock, so that tests can choose the time. */
  clockSkewMs: number;
  /** Shared memory for the latencies of the worker's ledger calls. */
  latency: SharedArrayBuffer;
}

/** Messages from the worker to the main thread. */
export type FromWorker =
  /** A write was committed: the board can follow at once. */
  | { kind: 'written' }
  /** Progress of the initial fill, in symbols. */
  | { kind: 'progress'; done: number; total: number }
  /** History and the current session are complete. Sent once. */
  | { kind: 'ready' }
  /** A turn has finished. */
  | { kind: 'turned' }
  /** A turn failed; the next one tries again. */
  | { kind: 'failed'; message: string }
  /** A run of a feed has ended, successfully or not. */
  | { kind: 'ran'; run: EndedRun }
  /** A run of a feed failed; its schedule determines the next attempt. */
  | { kind: 'error'; message: string }
  /** The packed outcomes of a push; or the whole push failed and may be sent again. */
  | { kind: 'pushed'; number: number; outcomes: string }
  | { kind: 'not-pushed'; number: number; error: ThreadError }
  /** The ledger is closed. This is the last message. */
  | { kind: 'stopped' };
