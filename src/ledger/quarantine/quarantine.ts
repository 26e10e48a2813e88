import { QUARANTINE_MS } from '../../market/quality/tick-watch.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asOneOf, asText, optional, rowReader } from '../engine/rows.ts';
import { ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import type { NewTick } from '../ticks/tick.ts';
import { insertTicks, marketsOf } from '../ticks/ticks.ts';
import { admitTicks, type TickOutcome } from './admit-ticks.ts';
import { recordDecision } from './decision.ts';
import type { HeldBarStore } from './held-bars.ts';
import { QUARANTINED_TICK, releasedTick } from './reads.ts';

/** A tick that was held, and the decision about it. */
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

const STATE = asOneOf('held', 'released', 'dropped');

const HELD_TICK = rowReader<HeldTick>({
  id: asNumber,
  symbol: asText,
  source: asText,
  tickId: asText,
  at: asNumber,
  received: asNumber,
  price: asNumber,
  reason: asText,
  state: STATE,
  decidedAt: optional(asNumber),
  decidedBy: optional(asText),
});

/** Ticks of one source. */
export interface TickBatch {
  source: string;
  ticks: readonly NewTick[];
}

/** Admits ticks from outside and holds those that are too far from their neighbours. Also decides on held bars. */
export class QuarantineStore {
  readonly #engine: Engine;
  readonly #bars: HeldBarStore;
  readonly #audit: AuditLog;

  constructor(engine: Engine, bars: HeldBarStore, audit: AuditLog) {
    this.#engine = engine;
    this.#bars = bars;
    this.#audit = audit;
  }

  /** Admits ticks of one source, in transactions of 2,000. Returns an outcome for each, in order. */
  async admit(ticks: readonly NewTick[], source: string): Promise<TickOutcome[]> {
    const outcomes: TickOutcome[] = [];
    for (let from = 0; from < ticks.length; from += ROWS_PER_TRANSACTION) {
      const [some] = await this.admitTogether([
        { source, ticks: ticks.slice(from, from + ROWS_PER_TRANSACTION) },
      ]);
      for (const outcome of some!) outcomes.push(outcome);
    }
    return outcomes;
  }

  /** Admits several batches in one transaction: all of them or none. Returns the outcomes of each batch. */
  admitTogether(batches: readonly TickBatch[]): Promise<TickOutcome[][]> {
    const bySource = Map.groupBy(batches, ({ source }) => source);
    return this.#engine.writePrices(async (tx) => {
      const outcomes = new Map<TickBatch, TickOutcome[]>();
      for (const [source, alike] of bySource) {
        const ticks = alike.flatMap((batch) => batch.ticks);
        const ofAll = await admitTicks(this.#engine, tx, ticks, source);
        for (const batch of alike) outcomes.set(batch, ofAll.splice(0, batch.ticks.length));
      }
      return batches.map((batch) => outcomes.get(batch)!);
    });
  }

  /** Held ticks, newest first; with `all`, decided ones too. */
  async list({ all, limit }: { all: boolean; limit: number }): Promise<HeldTick[]> {
    const { read, placeholder: p } = this.#engine;
    // Of many ticks few are held: `+ 0` has both engines find them by the index `quarantine_tick_held`, not search all by id.
    const chosen = all ? 'ORDER BY q.id' : `AND q.state = 'held' ORDER BY q.id + 0`;
    const rows = await read.unsafe(
      `SELECT q.id, s.code AS symbol, o.name AS source, q.tick_id, q.at, q.received, q.price, q.reason, q.state,
         q.decided_at, q.decided_by
       FROM quarantine_tick q CROSS JOIN symbol s CROSS JOIN source o
       WHERE s.id = q.symbol_id AND o.id = q.source_id ${chosen} DESC LIMIT ${p(1)}`,
      [limit],
    );
    return rows.map(HELD_TICK.read);
  }

  /** The state of a tick or a bar; undefined when there is none with this id. */
  async stateOf(id: number): Promise<HeldTick['state'] | undefined> {
    const [row] = await this.#engine.read`SELECT state FROM quarantine_tick WHERE id = ${id}
      UNION ALL SELECT state FROM quarantine_bar WHERE id = ${id}`;
    return row && STATE(row.state);
  }

  /** Publishes a tick or a bar that is held or was dropped. False when there is none with this id. */
  async release(id: number, now: number, by: string): Promise<boolean> {
    return (await this.#releaseTick(id, now, by)) || this.#bars.release(id, now, by);
  }

  /** Drops a tick or a bar. False when it is not held. */
  async drop(id: number, now: number, by: string): Promise<boolean> {
    return (await this.#dropTick(id, now, by)) || this.#bars.drop(id, now, by);
  }

  #releaseTick(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const { placeholder: p } = this.#engine;
      const [row] = await tx.unsafe(
        `UPDATE quarantine_tick SET state = 'released', decided_at = ${p(1)}, decided_by = ${p(2)}
         WHERE id = ${p(3)} AND state <> 'released' RETURNING ${QUARANTINED_TICK.columns}`,
        [now, by, id],
      );
      if (!row) return false;
      const held = QUARANTINED_TICK.read(row);
      await insertTicks(this.#engine, tx, [releasedTick(held, now)], await marketsOf(tx), revision);
      await recordDecision(tx, this.#audit, 'quarantine.release', held);
      return true;
    });
  }

  #dropTick(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const [row] =
        await tx`UPDATE quarantine_tick SET state = 'dropped', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state = 'held' RETURNING symbol_id, price`;
      if (!row) return false;
      const held = { id, symbolId: asNumber(row.symbol_id), price: asNumber(row.price) };
      await recordDecision(tx, this.#audit, 'quarantine.drop', held);
      return true;
    });
  }

  /** Drops unconfirmed ticks. Returns how many. */
  async expire(now: number): Promise<number> {
    const before = now - QUARANTINE_MS;
    const [due] = await this.#engine.read`SELECT id FROM quarantine_tick
      WHERE state = 'held' AND received <= ${before} LIMIT 1`;
    if (!due) return 0;
    return this.#engine.write(async (tx) => {
      const rows = await tx`UPDATE quarantine_tick
        SET state = 'dropped', decided_at = ${now}, decided_by = 'nobody confirmed it in 15 minutes'
        WHERE state = 'held' AND received <= ${before} RETURNING id`;
      return rows.length;
    });
  }
}
