import type { SQL } from 'bun';
import { QUARANTINE_MS, TickWatch } from '../market/quarantine.ts';
import { type Market, tradeDate } from '../market/session.ts';
import type { Engine } from './engine.ts';
import { believedAround, type Known, knownTicks, type Neighbour, usualOf } from './quarantine-reads.ts';
import { sourceId } from './sources.ts';
import { insertRows, nextRevision, ROWS_PER_TRANSACTION } from './statements.ts';
import { insertTicks, marketsOf, type NewTick } from './ticks.ts';

/** What became of a tick that was sent. */
export type TickOutcome =
  | { status: 'accepted' | 'duplicate' }
  | { status: 'quarantined' | 'refused'; reason: string };

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

/** The door for ticks from outside: those that are too far from their neighbours wait here, in the ledger. */
export class QuarantineStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Takes ticks of one source, in transactions of 2,000. Answers for each, in the order given. */
  async admit(ticks: readonly NewTick[], source: string): Promise<TickOutcome[]> {
    const outcomes: TickOutcome[] = [];
    for (let from = 0; from < ticks.length; from += ROWS_PER_TRANSACTION) {
      const chunk = ticks.slice(from, from + ROWS_PER_TRANSACTION);
      const some = await this.#engine.takeIn((tx) => admitSome(this.#engine, tx, chunk, source));
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

  /** Takes a tick that is held, or was dropped, in its right place. False when there is none such. */
  release(id: number, now: number, by: string): Promise<boolean> {
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

  /** Gives a tick up. False when it is not held. */
  drop(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const rows =
        await tx`UPDATE quarantine_tick SET state = 'dropped', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state = 'held' RETURNING id`;
      return rows.length > 0;
    });
  }

  /** Drops what nobody has confirmed in time, and forgets what was decided long ago. Answers how many were dropped. */
  async expire(now: number): Promise<number> {
    const [due] = await this.#engine.read`SELECT count(*) AS n FROM quarantine_tick
      WHERE (state = 'held' AND received <= ${now - QUARANTINE_MS}) OR decided_at <= ${now - KEEP_MS}`;
    if (Number(due.n) === 0) return 0;
    return this.#engine.write(async (tx) => {
      const rows = await tx`UPDATE quarantine_tick
        SET state = 'dropped', decided_at = ${now}, decided_by = 'nobody confirmed it in 15 minutes'
        WHERE state = 'held' AND received <= ${now - QUARANTINE_MS} RETURNING id`;
      await tx`DELETE FROM quarantine_tick WHERE decided_at <= ${now - KEEP_MS}`;
      return rows.length;
    });
  }
}

interface Door {
  engine: Engine;
  tx: SQL;
  source: number;
  revision: number;
  markets: ReadonlyMap<number, Market>;
}

async function admitSome(
  engine: Engine,
  tx: SQL,
  ticks: readonly NewTick[],
  sourceName: string,
): Promise<TickOutcome[]> {
  // The counter's row stays locked: the neighbours of a tick do not change while it is judged.
  const revision = await nextRevision(tx, 'prices');
  const source = await sourceId(tx, sourceName);
  const door: Door = { engine, tx, source, revision, markets: await marketsOf(tx) };
  const outcomes = new Map<NewTick, TickOutcome>();
  for (const [symbolId, ofSymbol] of Map.groupBy(ticks, (tick) => tick.symbolId)) {
    await admitOf(door, symbolId, ofSymbol, outcomes);
  }
  return ticks.map((tick) => outcomes.get(tick)!);
}

/** One tick under judgement; `row` is its id where it was held before. */
interface Candidate extends Neighbour {
  tick: NewTick & { sourceId: number };
  row?: number;
  reason?: string;
}

async function admitOf(
  door: Door,
  symbolId: number,
  ticks: readonly NewTick[],
  outcomes: Map<NewTick, TickOutcome>,
): Promise<void> {
  const { engine, tx, source, markets, revision } = door;
  const market = markets.get(symbolId);
  if (!market) throw new Error(`no symbol has the id ${symbolId}`);
  const fresh = freshOf(ticks, await knownTicks(engine, tx, symbolId, source, ticks), outcomes);
  if (fresh.length === 0) return;
  fresh.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const now = Math.max(...fresh.map((tick) => tick.received));
  const span = { first: fresh[0]!.at, last: fresh.at(-1)!.at };
  const dayOf = (at: number) => tradeDate(market, at);
  const believed: Neighbour[] = await believedAround(engine, tx, symbolId, span, dayOf);
  const held = await heldOf(tx, symbolId, now);
  const watch = new TickWatch<Neighbour>(await usualOf(tx, symbolId), believed, held);

  const accepted: Candidate[] = [];
  const doubted = new Set<Candidate>();
  for (const tick of fresh) {
    const candidate: Candidate = { ...tick, sourceId: source, tick: { ...tick, sourceId: source } };
    const reason = watch.take(candidate);
    if (reason === undefined) accepted.push(candidate);
    else doubted.add(Object.assign(candidate, { reason }));
    outcomes.set(tick, reason === undefined ? { status: 'accepted' } : { status: 'quarantined', reason });
    for (const released of watch.release() as Candidate[]) {
      accepted.push(released);
      doubted.delete(released);
    }
  }
  const byId = new Map(fresh.map((tick) => [tick.id, tick]));
  for (const { tick, row } of accepted) {
    if (row === undefined) outcomes.set(byId.get(tick.id)!, { status: 'accepted' });
    else
      await tx`UPDATE quarantine_tick SET state = 'released', decided_at = ${now}, decided_by = 'others agree'
        WHERE id = ${row}`;
  }
  const taken = accepted.map(({ tick, row }) => (row === undefined ? tick : { ...tick, received: now }));
  await insertTicks(engine, tx, taken, markets, revision);
  await hold(door, [...doubted]);
}

/** Those that were never seen. An id that is known is the same tick, or it is refused. */
function freshOf(
  ticks: readonly NewTick[],
  known: Map<string, Known>,
  outcomes: Map<NewTick, TickOutcome>,
): NewTick[] {
  const fresh: NewTick[] = [];
  for (const tick of ticks) {
    const before = known.get(tick.id);
    if (!before) {
      known.set(tick.id, { at: tick.at, price: tick.price, state: 'taken', reason: '' });
      fresh.push(tick);
    } else if (before.at !== tick.at || before.price !== tick.price) {
      outcomes.set(tick, { status: 'refused', reason: 'its id was used for another price or time' });
    } else if (before.state === 'held') outcomes.set(tick, { status: 'quarantined', reason: before.reason });
    else if (before.state === 'dropped')
      outcomes.set(tick, { status: 'refused', reason: 'it was dropped from quarantine' });
    else outcomes.set(tick, { status: 'duplicate' });
  }
  return fresh;
}

async function heldOf(tx: SQL, symbolId: number, now: number): Promise<Candidate[]> {
  const rows = await tx`SELECT * FROM quarantine_tick
    WHERE symbol_id = ${symbolId} AND state = 'held' AND received > ${now - QUARANTINE_MS}`;
  return rows.map((row: Row): Candidate => {
    const tick = believedFrom(row, Number(row.received));
    return { at: tick.at, price: tick.price, sourceId: tick.sourceId, tick, row: Number(row.id) };
  });
}

async function hold({ engine, tx }: Door, doubted: readonly Candidate[]): Promise<void> {
  if (doubted.length === 0) return;
  const [row] = await tx`SELECT coalesce(max(id), 0) AS last FROM quarantine_tick`;
  const last = Number(row.last);
  await insertRows(
    engine,
    tx,
    'quarantine_tick (id, symbol_id, source_id, tick_id, at, received, price, reason, state)',
    doubted.map(({ tick, reason = '' }, i) => [
      last + 1 + i,
      tick.symbolId,
      tick.sourceId,
      tick.id,
      tick.at,
      tick.received,
      tick.price,
      reason,
      'held',
    ]),
  );
}

type Row = Record<string, string | number | null>;

/** As it comes to be believed: at its own time, and known from `received` on. */
function believedFrom(row: Row, received: number): NewTick & { sourceId: number } {
  return {
    symbolId: Number(row.symbol_id),
    sourceId: Number(row.source_id),
    id: String(row.tick_id),
    at: Number(row.at),
    received,
    price: Number(row.price),
  };
}

function toHeld(row: Row): HeldTick {
  return {
    id: Number(row.id),
    symbol: String(row.code),
    source: String(row.name),
    tickId: String(row.tick_id),
    at: Number(row.at),
    received: Number(row.received),
    price: Number(row.price),
    reason: String(row.reason),
    state: String(row.state) as HeldTick['state'],
    decidedAt: row.decided_at === null ? undefined : Number(row.decided_at),
    decidedBy: row.decided_by === null ? undefined : String(row.decided_by),
  };
}
