import type { SQL } from 'bun';
import type { Engine } from './engine.ts';

/** The source of simulated prices has a fixed id, so that queries can tell the two strands of a symbol apart. */
export const SIMULATED = 'simulated';
export const SIMULATED_ID = 1;

/** Names of where prices come from, as small numbers. Names are only ever added. */
export class SourceStore {
  readonly #engine: Engine;
  #names = new Map<number, string>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async id(name: string): Promise<number> {
    return this.#engine.write((tx) => sourceId(tx, name));
  }

  /** The name behind an id. Reads the table again when the id is new. */
  async name(id: number): Promise<string> {
    if (!this.#names.has(id)) {
      for (const row of await this.#engine.read`SELECT id, name FROM source`) {
        this.#names.set(Number(row.id), row.name);
      }
    }
    return this.#names.get(id) ?? 'unknown';
  }
}

export async function sourceId(tx: SQL, name: string): Promise<number> {
  const known = await findSource(tx, name);
  if (known !== undefined) return known;
  // The counter's row is the lock: two writers with a new name each take their turn.
  await tx`UPDATE counter SET value = value WHERE name = 'prices'`;
  const meanwhile = await findSource(tx, name);
  if (meanwhile !== undefined) return meanwhile;
  const [row] = await tx`INSERT INTO source (id, name) SELECT coalesce(max(id), 0) + 1, ${name} FROM source
    RETURNING id`;
  return Number(row.id);
}

async function findSource(tx: SQL, name: string): Promise<number | undefined> {
  const [row] = await tx`SELECT id FROM source WHERE name = ${name}`;
  return row === undefined ? undefined : Number(row.id);
}
