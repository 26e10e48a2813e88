import type { Engine } from '../engine/engine.ts';
import { Unavailable } from '../engine/errors.ts';
import { asText, onlyRow, optional } from '../engine/rows.ts';

/** Which alarms have been delivered, so that only one of several replicas delivers each. */
export class AlarmStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Claims the delivery of an alarm for `claimMs`, unless it has been delivered or another replica has claimed it. `about`
   * identifies the occurrence: only the last one of each name is stored.
   */
  claim(name: string, about: string, claimMs: number): Promise<'claimed' | 'delivered' | 'taken'> {
    return this.#engine.write(async (tx) => {
      const now = await this.#engine.now(tx);
      // The insert creates or locks the row, so concurrent replicas are serialized.
      await tx`INSERT INTO meta (name, value) VALUES (${keyOf(name)}, '') ON CONFLICT (name) DO UPDATE SET value = meta.value`;
      const row = onlyRow(await tx`SELECT value FROM meta WHERE name = ${keyOf(name)}`);
      const [known, until] = asText(row.value).split('\n');
      if (known === about && until === DELIVERED) return 'delivered';
      if (known === about && Number(until) > now) return 'taken';
      await tx`UPDATE meta SET value = ${`${about}\n${now + claimMs}`} WHERE name = ${keyOf(name)}`;
      return 'claimed';
    });
  }

  /**
   * How often the ledger was unreachable for a replica. Replicas number the next outage by it without the ledger. Throws
   * if the ledger accepts only reads: no request can be counted there.
   */
  async outages(): Promise<number> {
    const { read, readOnly, placeholder: p } = this.#engine;
    const row = onlyRow(
      await read.unsafe(
        `SELECT ${readOnly} AS read_only, (SELECT value FROM meta WHERE name = ${p(1)}) AS outages`,
        [OUTAGES],
      ),
    );
    if (asText(row.read_only) === 'on')
      throw new Unavailable('PostgreSQL accepts only reads: it is a standby, or set to read-only');
    return Number(optional(asText)(row.outages) ?? 0);
  }

  /** Records a past outage. All replicas that noticed it record the same number. */
  async recordOutage(number: number): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`INSERT INTO meta (name, value) VALUES (${OUTAGES}, ${String(number)}) ON CONFLICT (name) DO UPDATE
        SET value = excluded.value WHERE CAST(meta.value AS BIGINT) < CAST(excluded.value AS BIGINT)`;
    });
  }

  async markDelivered(name: string, about: string): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`UPDATE meta SET value = ${`${about}\n${DELIVERED}`} WHERE name = ${keyOf(name)}`;
    });
  }
}

const OUTAGES = 'outages';

/** The stored value is older than this name. */
const DELIVERED = 'told';

function keyOf(name: string): string {
  return `alarm ${name}`;
}
