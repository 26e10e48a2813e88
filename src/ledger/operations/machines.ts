import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { writeMeta } from '../engine/meta.ts';
import { asNumber, asText, type Sql } from '../engine/rows.ts';

/** Three heartbeats. */
const LIVE_MS = 15_000;
const KEPT_MS = MS_PER_DAY;
const PREFIX = 'machine ';

/** Which machines serve from this ledger. A machine is the set of processes with one data folder. */
export class MachineStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Records that a machine serves now. Returns all machines that are live. */
  async record(machine: string): Promise<string[]> {
    return this.#engine.write(async (tx) => {
      const now = await this.#engine.now(tx);
      await writeMeta(tx, PREFIX + machine, String(now));
      const seen = await readSeen(tx, now);
      for (const { id, ageMs } of seen) {
        // It may serve again since this transaction has read it.
        if (ageMs > KEPT_MS)
          await tx`DELETE FROM meta WHERE name = ${PREFIX + id} AND value = ${String(now - ageMs)}`;
      }
      return liveOf(seen);
    });
  }

  /** The machines that were recorded within the last three heartbeats. */
  async live(): Promise<string[]> {
    const { read } = this.#engine;
    return liveOf(await readSeen(read, await this.#engine.now(read)));
  }
}

interface Seen {
  id: string;
  ageMs: number;
}

async function readSeen(handle: Sql, now: number): Promise<Seen[]> {
  const rows = await handle`SELECT name, value FROM meta WHERE name LIKE ${`${PREFIX}%`}`;
  return rows.map((row) => ({
    id: asText(row.name).slice(PREFIX.length),
    ageMs: now - asNumber(row.value),
  }));
}

function liveOf(seen: readonly Seen[]): string[] {
  return seen
    .filter(({ ageMs }) => ageMs < LIVE_MS)
    .map(({ id }) => id)
    .sort();
}
