import type { Ohlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions, takeNumbers } from '../engine/revisions.ts';
import {
  asNumber,
  asOneOf,
  asText,
  onlyRow,
  optional,
  type RowValues,
  rowReader,
  type Sql,
} from '../engine/rows.ts';
import { insertRows, ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import type { NewBar } from '../prices/bars.ts';
import { noteRevision } from '../prices/imports.ts';
import { type Publication, publishBars } from '../prices/publish-bars.ts';
import { type SymbolDay, symbolDayKey } from '../symbols/origin.ts';
import { sourceId } from '../symbols/sources.ts';
import { LATER_BAR, recordDecision } from './decision.ts';

/** A bar that was held, and the decision about it. */
export interface HeldBar extends Ohlc {
  id: number;
  symbol: string;
  source: string;
  day: Day;
  received: number;
  reason: string;
  /** The run that provided it: `import 3`, `feed run 12`, `push`. */
  origin: string;
  state: 'held' | 'released' | 'dropped';
  decidedAt: number | undefined;
  decidedBy: string | undefined;
}

const OHLC = { open: asNumber, high: asNumber, low: asNumber, close: asNumber };

const HELD_BAR = rowReader<HeldBar>({
  id: asNumber,
  symbol: asText,
  source: asText,
  day: asNumber,
  ...OHLC,
  received: asNumber,
  reason: asText,
  origin: asText,
  state: asOneOf('held', 'released', 'dropped'),
  decidedAt: optional(asNumber),
  decidedBy: optional(asText),
});

const RELEASED_BAR = rowReader({
  symbolId: asNumber,
  sourceId: asNumber,
  day: asNumber,
  ...OHLC,
  origin: asText,
});

/** Runs first in each transaction; an exception rolls it back. */
type Before = Publication['before'];

export interface Holding {
  source: string;
  origin: string;
  received: number;
  before?: Before;
}

/** Suspicious bars. They wait, without a time limit, for the operator or for later bars that confirm them. */
export class HeldBarStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  /**
   * Holds bars of one source. A bar that is already held, or that the operator dropped, is unchanged if its prices are the
   * same: a feed sends it again with every run.
   */
  async hold(held: readonly { bar: NewBar; reason: string }[], holding: Holding): Promise<void> {
    for (let from = 0; from < held.length; from += ROWS_PER_TRANSACTION) {
      const chunk = held.slice(from, from + ROWS_PER_TRANSACTION);
      await this.#engine.writePrices((tx) => holdSome(this.#engine, tx, chunk, holding));
    }
  }

  /** Held bars, newest first; with `all`, decided ones too. */
  async list(options: { all: boolean; limit: number }): Promise<HeldBar[]> {
    const rows = await this.#engine.read`
      SELECT q.id, s.code AS symbol, o.name AS source, q.day, q.open, q.high, q.low, q.close, q.received, q.reason,
        q.origin, q.state, q.decided_at, q.decided_by
      FROM quarantine_bar q JOIN symbol s ON s.id = q.symbol_id JOIN source o ON o.id = q.source_id
      WHERE q.state = 'held' OR ${options.all ? 1 : 0} = 1 ORDER BY q.id DESC LIMIT ${options.limit}`;
    return rows.map(HELD_BAR.read);
  }

  /** Publishes a bar that is held or was dropped. False when there is none with this id. */
  release(id: number, now: number, by: string): Promise<boolean> {
    return this.#release(id, now, { by, states: ['held', 'dropped'] });
  }

  /** Publishes bars that later bars have confirmed, unless they were decided on in the meantime. */
  async confirm(bars: readonly { id: number }[], now: number, before?: Before): Promise<void> {
    for (const { id } of bars) {
      await this.#release(id, now, { by: 'later bars that confirm it', states: ['held'], before });
    }
  }

  #release(
    id: number,
    now: number,
    { by, states, before }: { by: string; states: [HeldBar['state'], HeldBar['state']?]; before?: Before },
  ): Promise<boolean> {
    const [first, second = first] = states;
    return this.#engine.writePrices(async (tx) => {
      await before?.(tx);
      await lockRevisions(tx, 'prices');
      const { placeholder: p } = this.#engine;
      const [row] = await tx.unsafe(
        `UPDATE quarantine_bar SET state = 'released', decided_at = ${p(1)}, decided_by = ${p(2)}
         WHERE id = ${p(3)} AND state IN (${p(4)}, ${p(5)}) RETURNING ${RELEASED_BAR.columns}`,
        [now, by, id, first, second],
      );
      if (!row) return false;
      const { sourceId, origin, ...bar } = RELEASED_BAR.read(row);
      const source = onlyRow(await tx`SELECT name FROM source WHERE id = ${sourceId}`);
      await publishBars(this.#engine, tx, [bar], {
        source: asText(source.name),
        recordedAt: now,
        reason: `released from quarantine by ${by}`,
        after: (_, revision) => noteRevision(tx, origin, revision),
      });
      const decided = { id, symbolId: bar.symbolId, price: bar.close };
      if (states.includes('dropped')) await recordDecision(tx, this.#audit, 'quarantine.release', decided);
      return true;
    });
  }

  /** Drops a bar. False when it is not held. */
  drop(id: number, now: number, by: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const [row] =
        await tx`UPDATE quarantine_bar SET state = 'dropped', decided_at = ${now}, decided_by = ${by}
        WHERE id = ${id} AND state = 'held' RETURNING symbol_id, close`;
      if (!row) return false;
      const decided = { id, symbolId: asNumber(row.symbol_id), price: asNumber(row.close) };
      await recordDecision(tx, this.#audit, 'quarantine.drop', decided);
      return true;
    });
  }

  /**
   * Decides on held bars whose day has a bar in `published`, of the same source: it confirms or replaces them, also if it
   * repeats what the ledger has.
   */
  async settle(published: readonly NewBar[], source: string, now: number, before?: Before): Promise<void> {
    const { read } = this.#engine;
    const [row] = await read`SELECT id FROM source WHERE name = ${source}`;
    if (!row || published.length === 0) return;
    const held = await heldAmong(this.#engine, published, asNumber(row.id));
    if (held.length === 0) return;
    const closes = new Map(published.map((bar) => [symbolDayKey(bar), bar.close]));
    const decisions = held.flatMap(({ id, close, ...day }): RowValues[] => {
      const newest = closes.get(symbolDayKey(day));
      return newest === undefined ? [] : [[id, newest === close ? 'released' : 'dropped', now]];
    });
    for (let from = 0; from < decisions.length; from += ROWS_PER_TRANSACTION) {
      const chunk = decisions.slice(from, from + ROWS_PER_TRANSACTION);
      await this.#engine.write(async (tx) => {
        await before?.(tx);
        await decideSome(this.#engine, tx, chunk);
      });
    }
  }
}

interface HeldDay extends SymbolDay {
  id: number;
  close: number;
}

/** A source's held bars on the days between the first and the last bar of each symbol. */
async function heldAmong(engine: Engine, bars: readonly NewBar[], source: number): Promise<HeldDay[]> {
  const rows = [...Map.groupBy(bars, ({ symbolId }) => symbolId)].map(([symbolId, ofSymbol]): RowValues => {
    const days = ofSymbol.map(({ day }) => day);
    return [symbolId, source, days.reduce((a, b) => Math.min(a, b)), days.reduce((a, b) => Math.max(a, b))];
  });
  const found = await engine.forRows(
    engine.read,
    { symbol_id: 'BIGINT', source_id: 'BIGINT', first_day: 'BIGINT', last_day: 'BIGINT' },
    rows,
    (n) => `SELECT q.id, q.symbol_id, q.day, q.close FROM ${n.table} CROSS JOIN quarantine_bar q
      WHERE q.symbol_id = ${n.cell('symbol_id')} AND q.source_id = ${n.cell('source_id')}
        AND q.day >= ${n.cell('first_day')} AND q.day <= ${n.cell('last_day')} AND q.state = 'held'`,
  );
  return found.map(([id, symbolId, day, close]) => ({
    id: asNumber(id),
    symbolId: asNumber(symbolId),
    day: asNumber(day),
    close: asNumber(close),
  }));
}

/** Stores decisions: the id of a held bar, its state and the time. */
async function decideSome(engine: Engine, tx: Sql, decisions: readonly RowValues[]): Promise<void> {
  await engine.forRows(
    tx,
    { id: 'BIGINT', decision: 'TEXT', at: 'BIGINT' },
    decisions,
    (
      n,
    ) => `UPDATE quarantine_bar SET decided_at = ${n.cell('at')}, decided_by = '${LATER_BAR}', state = ${n.cell('decision')}
      ${n.from} WHERE quarantine_bar.id = ${n.cell('id')} AND state = 'held'`,
  );
}

async function holdSome(
  engine: Engine,
  tx: Sql,
  held: readonly { bar: NewBar; reason: string }[],
  { source, origin, received, before }: Holding,
): Promise<void> {
  await before?.(tx);
  await lockRevisions(tx, 'prices');
  const id = await sourceId(tx, source);
  const first = await takeQuarantineIds(tx, held.length);
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
     WHERE quarantine_bar.state = 'released' OR quarantine_bar.decided_by = '${LATER_BAR}' OR NOT (quarantine_bar.open = excluded.open
       AND quarantine_bar.high = excluded.high AND quarantine_bar.low = excluded.low
       AND quarantine_bar.close = excluded.close)`,
  );
}

/** The first of some new ids. Ticks and bars in quarantine share one sequence. */
export async function takeQuarantineIds(tx: Sql, count: number): Promise<number> {
  const row = onlyRow(
    await tx`SELECT
    (SELECT coalesce(max(id), 0) FROM quarantine_tick) AS tick, (SELECT coalesce(max(id), 0) FROM quarantine_bar) AS bar`,
  );
  const lastUsed = Math.max(asNumber(row.tick), asNumber(row.bar));
  return takeNumbers(tx, 'last-quarantine-id', { lastUsed, count });
}
