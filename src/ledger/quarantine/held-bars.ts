import type { Ohlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Row, type RowValues, type Sql } from '../engine/rows.ts';
import { insertRows, ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { type NewBar, publishBars } from '../prices/bars.ts';
import { noteRevision } from '../prices/imports.ts';
import { sourceId } from '../symbols/sources.ts';

/** A bar that was held back, and what became of it. */
export interface HeldBar extends Ohlc {
  id: number;
  symbol: string;
  source: string;
  day: Day;
  received: number;
  reason: string;
  /** The run that brought it: `import 3`, `feed run 12`, `push`. */
  origin: string;
  state: 'held' | 'released' | 'dropped';
  decidedAt: number | undefined;
  decidedBy: string | undefined;
}

export interface Holding {
  source: string;
  origin: string;
  received: number;
  /** Runs first in each transaction; what it throws undoes the transaction. */
  before?(tx: Sql): Promise<void>;
}

/** Suspicious bars: they wait for the operator, or for later bars that confirm them, for any length of time. */
export class HeldBarStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Holds bars of one source. One that is held already, or was dropped, stays as it is when its prices are the same: a
   * feed sends it again with every run.
   */
  async hold(held: readonly { bar: NewBar; reason: string }[], holding: Holding): Promise<void> {
    for (let from = 0; from < held.length; from += ROWS_PER_TRANSACTION) {
      const chunk = held.slice(from, from + ROWS_PER_TRANSACTION);
      await this.#engine.writePrices((tx) => holdSome(this.#engine, tx, chunk, holding));
    }
  }

  /** The newest first: those that wait, or also those that were decided on. */
  async list(options: { all: boolean; limit: number }): Promise<HeldBar[]> {
    const rows = await this.#engine.read`
      SELECT q.*, s.code, o.name FROM quarantine_bar q JOIN symbol s ON s.id = q.symbol_id
        JOIN source o ON o.id = q.source_id
      WHERE q.state = 'held' OR ${options.all ? 1 : 0} = 1 ORDER BY q.id DESC LIMIT ${options.limit}`;
    return rows.map(toHeldBar);
  }

  /** Publishes a bar that is held, or was dropped. False when there is none such. */
  release(id: number, now: number, by: string): Promise<boolean> {
    return this.#release(id, now, { by, states: ['held', 'dropped'] });
  }

  /** Publishes bars that later bars have confirmed, unless they were decided on meanwhile. */
  async confirm(bars: readonly { id: number }[], now: number): Promise<void> {
    for (const { id } of bars) {
      await this.#release(id, now, { by: 'later bars that confirm it', states: ['held'] });
    }
  }

  #release(
    id: number,
    now: number,
    { by, states: [first, second] }: { by: string; states: [HeldBar['state'], HeldBar['state']?] },
  ): Promise<boolean> {
    return this.#engine.writePrices(async (tx) => {
      await lockRevisions(tx, 'prices');
      const [row] =
        await tx`UPDATE quarantine_bar SET state = 'released', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state IN (${first}, ${second ?? first}) RETURNING *`;
      if (!row) return false;
      const source = onlyRow(await tx`SELECT name FROM source WHERE id = ${row.source_id}`);
      const bar = { symbolId: asNumber(row.symbol_id), day: asNumber(row.day), ...ohlcOf(row) };
      await publishBars(this.#engine, tx, [bar], {
        source: asText(source.name),
        recordedAt: now,
        reason: `released from quarantine by ${by}`,
        after: (_, revision) => noteRevision(tx, asText(row.origin), revision),
      });
      return true;
    });
  }

  /** Gives a bar up. False when it is not held. */
  drop(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const rows =
        await tx`UPDATE quarantine_bar SET state = 'dropped', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state = 'held' RETURNING id`;
      return rows.length > 0;
    });
  }

  /** Gives up everything that a run brought and that is still held. Returns how many. */
  dropAllOf(origin: string, now: number, by: string): Promise<number> {
    return this.#engine.write(async (tx) => {
      const rows =
        await tx`UPDATE quarantine_bar SET state = 'dropped', decided_at = ${now}, decided_by = ${by}
        WHERE origin = ${origin} AND state = 'held' RETURNING id`;
      return rows.length;
    });
  }

  /** Ends the wait of bars whose day got a bar of the same source at `now`: they were confirmed or replaced. */
  async settle(source: string, now: number): Promise<void> {
    const { read } = this.#engine;
    const waiting = onlyRow(await read`SELECT count(*) AS n FROM quarantine_bar WHERE state = 'held'`);
    if (asNumber(waiting.n) === 0) return;
    await this.#engine.write(async (tx) => {
      const id = await sourceId(tx, source);
      await tx`UPDATE quarantine_bar SET decided_at = ${now}, decided_by = 'a later bar of its source',
          state = CASE WHEN EXISTS (SELECT 1 FROM bar b WHERE b.symbol_id = quarantine_bar.symbol_id
            AND b.day = quarantine_bar.day AND b.source_id = ${id} AND b.recorded_at = ${now}
            AND b.close = quarantine_bar.close) THEN 'released' ELSE 'dropped' END
        WHERE state = 'held' AND source_id = ${id} AND EXISTS (SELECT 1 FROM bar b
          WHERE b.symbol_id = quarantine_bar.symbol_id AND b.day = quarantine_bar.day AND b.source_id = ${id}
            AND b.recorded_at = ${now} AND b.withdrawn = 0)`;
    });
  }
}

async function holdSome(
  engine: Engine,
  tx: Sql,
  held: readonly { bar: NewBar; reason: string }[],
  { source, origin, received, before }: Holding,
): Promise<void> {
  await before?.(tx);
  await lockRevisions(tx, 'prices'); // whoever gives out ids holds this lock
  const id = await sourceId(tx, source);
  const first = await nextQuarantineId(tx);
  await insertRows(
    engine,
    tx,
    'quarantine_bar (id, symbol_id, source_id, day, open, high, low, close, received, reason, origin, state)',
    held.map(({ bar, reason }, i): RowValues => {
      const { symbolId, day, open, high, low, close } = bar;
      return [first + i, symbolId, id, day, open, high, low, close, received, reason, origin, 'held'];
    }),
    `ON CONFLICT (symbol_id, source_id, day) DO UPDATE SET open = excluded.open, high = excluded.high,
       low = excluded.low, close = excluded.close, received = excluded.received, reason = excluded.reason,
       origin = excluded.origin, state = 'held', decided_at = NULL, decided_by = NULL
     WHERE quarantine_bar.state = 'released' OR NOT (quarantine_bar.open = excluded.open
       AND quarantine_bar.high = excluded.high AND quarantine_bar.low = excluded.low
       AND quarantine_bar.close = excluded.close)`,
  );
}

/** Ticks and bars in quarantine share their ids. The caller holds the lock of the revisions. */
export async function nextQuarantineId(tx: Sql): Promise<number> {
  const row = onlyRow(
    await tx`SELECT
    (SELECT coalesce(max(id), 0) FROM quarantine_tick) AS tick, (SELECT coalesce(max(id), 0) FROM quarantine_bar) AS bar`,
  );
  return Math.max(asNumber(row.tick), asNumber(row.bar)) + 1;
}

function ohlcOf(row: Row): Ohlc {
  return {
    open: asNumber(row.open),
    high: asNumber(row.high),
    low: asNumber(row.low),
    close: asNumber(row.close),
  };
}

function toHeldBar(row: Row): HeldBar {
  return {
    id: asNumber(row.id),
    symbol: asText(row.code),
    source: asText(row.name),
    day: asNumber(row.day),
    ...ohlcOf(row),
    received: asNumber(row.received),
    reason: asText(row.reason),
    origin: asText(row.origin),
    state: asText(row.state) as HeldBar['state'],
    decidedAt: row.decided_at === null ? undefined : asNumber(row.decided_at),
    decidedBy: row.decided_by === null ? undefined : asText(row.decided_by),
  };
}
