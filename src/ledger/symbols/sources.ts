import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Sql } from '../engine/rows.ts';

/** The source of simulated prices has a fixed id, so that queries can tell real from simulated prices. */
export const SIMULATED = 'simulated';
export const SIMULATED_ID = 1;

/** Source names as small numbers. Names are never deleted. */
export class SourceStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The id of a name, assigned on first use. */
  id(name: string): Promise<number> {
    return this.#engine.write((tx) => sourceId(tx, name));
  }

  async names(): Promise<Map<number, string>> {
    const rows = await this.#engine.read`SELECT id, name FROM source`;
    return new Map(rows.map((row) => [asNumber(row.id), asText(row.name)]));
  }
}

export async function sourceId(tx: Sql, name: string): Promise<number> {
  const known = await findSource(tx, name);
  if (known !== undefined) return known;
  // The counter's row serializes writers that add names.
  await lockRevisions(tx, 'prices');
  const meanwhile = await findSource(tx, name);
  if (meanwhile !== undefined) return meanwhile;
  const row = onlyRow(
    await tx`INSERT INTO source (id, name) SELECT coalesce(max(id), 0) + 1, ${name} FROM source
    RETURNING id`,
  );
  return asNumber(row.id);
}

export async function findSource(tx: Sql, name: string): Promise<number | undefined> {
  const [row] = await tx`SELECT id FROM source WHERE name = ${name}`;
  return row === undefined ? undefined : asNumber(row.id);
}
