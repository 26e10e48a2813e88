import type { NewTick } from '../ticks/tick.ts';
import type { NewBar } from './bars.ts';

/** What the operator's own feed sends in one request. */
export type Push = { kind: 'ticks'; source: string; ticks: readonly NewTick[] } | BarPush;

export interface BarPush {
  kind: 'bars';
  source: string;
  bars: readonly NewBar[];
  received: number;
  /** Whether to publish even what looks like a change of unit. */
  accept: boolean;
}

/** The result for one record. */
export interface PushOutcome {
  status: 'accepted' | 'corrected' | 'duplicate' | 'quarantined' | 'refused';
  reason?: string;
}

/** The result for a record that repeats another one of the same batch. */
export function ofRepeat<T extends PushOutcome>(first: T): T | { status: 'duplicate' } {
  return first.status === 'accepted' || first.status === 'corrected' ? { status: 'duplicate' } : first;
}

/** Stores a push. When it resolves, accepted records are durable. */
export type StorePush = (push: Push) => Promise<PushOutcome[]>;
