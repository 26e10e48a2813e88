import { QUARANTINE_MS } from '../../market/quarantine.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow } from '../engine/rows.ts';
import { ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { insertTicks, marketsOf, type NewTick } from '../ticks/ticks.ts';
import { admitSome, type TickOutcome } from './admit-ticks.ts';
import type { HeldBarStore } from './held-bars.ts';
import { believedFrom, type QuarantineRow } from './reads.ts';

/** A tick that was held back, and what became of it. */
export interface HeldTick {
  id: number;
  symbol: string;
  source: string;
  tickId: string;
  at: number;
  received: number;
  price: number;
  reason: string;
  state: 'held' | 'released' | 'dropped';
  decidedAt: number | undefined;
  decidedBy: string | undefined;
}

/** How long it can be seen what became of a tick. */
const KEEP_MS = 30 * 86_400_000;

/** Admits ticks from outside: those that are too far from their neighbours wait here, in the ledger. Decides on held bars, too. */
export class QuarantineStore {
  readonly #engine: Engine;
  readonly #bars: HeldBarStore;

  constructor(engine: Engine, bars: HeldBarStore) {
    this.#engine = engine;
    this.#bars = bars;
  }

  /** Takes ticks of one source, in transactions of 2,000. Answers for each, in the order given. */
  async admit(ticks: readonly NewTick[], source: string): Promise<TickOutcome[]> {
    const outcomes: TickOutcome[] = [];
    for (let from = 0; from < ticks.length; from += ROWS_PER_TRANSACTION) {
      const chunk = ticks.slice(from, from + ROWS_PER_TRANSACTION);
      const some = await this.#engine.writePrices((tx) => admitSome(this.#engine, tx, chunk, source));
      for (const outcome of some) outcomes.push(outcome);
    }
    return outcomes;
  }

  /** The newest first: those that wait, or also those that were decided on. */
  async list(options: { all: boolean; limit: number }): Promise<HeldTick[]> {
    const rows = await this.#engine.read`
      SELECT q.*, s.code, o.name FROM quarantine_tick q JOIN symbol s ON s.id = q.symbol_id
        JOIN source o ON o.id = q.source_id
      WHERE q.state = 'held' OR ${options.all ? 1 : 0} = 1 ORDER BY q.id DESC LIMIT ${options.limit}`;
    return rows.map(toHeld);
  }

  /** Takes a tick or a bar that is held, or was dropped, in its right place. False when there is none such. */
  async release(id: number, now: number, by: string): Promise<boolean> {
    return (await this.#releaseTick(id, now, by)) || this.#bars.release(id, now, by);
  }

  /** Gives a tick or a bar up. False when it is not held. */
  async drop(id: number, now: number, by: string): Promise<boolean> {
    return (await this.#dropTick(id, now, by)) || this.#bars.drop(id, now, by);
  }

  #releaseTick(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const [row] =
        await tx`UPDATE quarantine_tick SET state = 'released', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state <> 'released' RETURNING *`;
      if (!row) return false;
      await insertTicks(this.#engine, tx, [believedFrom(row, now)], await marketsOf(tx), revision);
      return true;
    });
  }

  #dropTick(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const rows =
        await tx`UPDATE quarantine_tick SET state = 'dropped', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state = 'held' RETURNING id`;
      return rows.length > 0;
    });
  }

  /** Drops what nobody has confirmed in time, and forgets what was decided long ago. Answers how many were dropped. */
  async expire(now: number): Promise<number> {
    const due = onlyRow(
      await this.#engine.read`SELECT count(*) AS n FROM quarantine_tick
      WHERE (state = 'held' AND received <= ${now - QUARANTINE_MS}) OR decided_at <= ${now - KEEP_MS}`,
    );
    if (asNumber(due.n) === 0) return 0;
    return this.#engine.write(async (tx) => {
      const rows = await tx`UPDATE quarantine_tick
        SET state = 'dropped', decided_at = ${now}, decided_by = 'nobody confirmed it in 15 minutes'
        WHERE state = 'held' AND received <= ${now - QUARANTINE_MS} RETURNING id`;
      await tx`DELETE FROM quarantine_tick WHERE decided_at <= ${now - KEEP_MS}`;
      return rows.length;
    });
  }
}

function toHeld(row: QuarantineRow): HeldTick {
  return {
    id: asNumber(row.id),
    symbol: asText(row.code),
    source: asText(row.name),
    tickId: asText(row.tick_id),
    at: asNumber(row.at),
    received: asNumber(row.received),
    price: asNumber(row.price),
    reason: asText(row.reason),
    state: asText(row.state) as HeldTick['state'],
    decidedAt: row.decided_at === null ? undefined : asNumber(row.decided_at),
    decidedBy: row.decided_by === null ? undefined : asText(row.decided_by),
  };
}
