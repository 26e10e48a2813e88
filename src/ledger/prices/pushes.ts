import type { NewTick } from '../ticks/ticks.ts';
import type { NewBar } from './bars.ts';

/** What the operator's own feed sends in one request. */
export type Push =
  | { kind: 'ticks'; source: string; ticks: readonly NewTick[] }
  /** `accept`: also what looks like a change of unit. */
  | { kind: 'bars'; source: string; bars: readonly NewBar[]; received: number; accept: boolean };

/** What became of one record. */
export interface PushOutcome {
  status: 'accepted' | 'corrected' | 'duplicate' | 'quarantined' | 'refused';
  reason?: string;
}

/** Takes a push in. When it answers, what it accepted is durable. */
export type TakePush = (push: Push) => Promise<PushOutcome[]>;
