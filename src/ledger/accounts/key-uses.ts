import type { Day } from '../../market/day.ts';
import { yieldToRequests } from '../../runtime/yield.ts';
import type { ColumnTypes, Engine } from '../engine/engine.ts';
import { asNumber, asText, rowReader } from '../engine/rows.ts';

/** How often a key was used for an endpoint on a day, in units. */
export interface KeyUse {
  accountId: string;
  keyId: string;
  day: Day;
  endpoint: string;
  count: number;
  /** The time of the last use, in ms. */
  lastAt: number;
}

const USE = rowReader<KeyUse>({
  accountId: asText,
  keyId: asText,
  day: asNumber,
  endpoint: asText,
  count: asNumber,
  lastAt: asNumber,
});

const USE_TYPES: ColumnTypes = {
  account_id: 'TEXT',
  key_id: 'TEXT',
  day: 'BIGINT',
  endpoint: 'TEXT',
  count: 'BIGINT',
  last_at: 'BIGINT',
};

/** A transaction takes SQLite about 2 ms if the uses are sorted by account, and requests wait for it. */
const USES_PER_TRANSACTION = 100;

/**
 * Statistics by key. The quota is counted exactly, by account, in `QuotaStore`; a process that is killed loses the uses
 * that it has not written.
 */
export class KeyUseStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Adds counts to those that are stored. */
  async add(uses: readonly KeyUse[]): Promise<void> {
    for (let from = 0; from < uses.length; from += USES_PER_TRANSACTION) {
      if (from > 0) await yieldToRequests();
      await this.#addSome(uses.slice(from, from + USES_PER_TRANSACTION));
    }
  }

  async #addSome(uses: readonly KeyUse[]): Promise<void> {
    const engine = this.#engine;
    const columns = Object.keys(USE_TYPES);
    await engine.write((tx) =>
      engine.forRows(
        tx,
        USE_TYPES,
        uses.map((use) => [use.accountId, use.keyId, use.day, use.endpoint, use.count, use.lastAt]),
        (
          n,
        ) => `INSERT INTO key_use (${columns.join(', ')}) SELECT ${columns.map(n.cell).join(', ')} ${n.from} WHERE true
         ON CONFLICT (account_id, key_id, day, endpoint) DO UPDATE SET count = key_use.count + excluded.count,
           last_at = CASE WHEN excluded.last_at > key_use.last_at THEN excluded.last_at ELSE key_use.last_at END`,
      ),
    );
  }

  /** The uses of all keys of an account from a day on. */
  async of(accountId: string, firstDay: Day): Promise<KeyUse[]> {
    const { read, placeholder: p } = this.#engine;
    const rows = await read.unsafe(
      `SELECT ${USE.columns} FROM key_use WHERE account_id = ${p(1)} AND day >= ${p(2)}
       ORDER BY day, key_id, endpoint`,
      [accountId, firstDay],
    );
    return rows.map(USE.read);
  }

  /** When each key of an account was last used, by its id. Keys without a use are absent. */
  async lastUses(accountId: string): Promise<Map<string, number>> {
    const rows = await this.#engine.read`SELECT key_id, max(last_at) AS last_at FROM key_use
      WHERE account_id = ${accountId} GROUP BY key_id`;
    return new Map(rows.map((row) => [asText(row.key_id), asNumber(row.last_at)]));
  }
}
