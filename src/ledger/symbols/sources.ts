import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Sql } from '../engine/rows.ts';

/** The source of simulated prices has a fixed id, so that queries can tell real from simulated prices. */
export const SIMULATED = 'simulated';
export const SIMULATED_ID = 1;

/** The source of prices that an operator enters by hand. */
export const OPERATOR = 'operator';

/** Counted in characters, not in UTF-16 code units. */
const SOURCE_NAME = /^[\p{L}\p{N}][^\p{Cc}\p{Cs}]{0,63}$/u;

/** What a user's name of a source must be instead; undefined if it is accepted. */
export function expectedSource(name: string): string | undefined {
  if (name === SIMULATED) return `another name: "${SIMULATED}" is reserved for simulated prices`;
  if (name === OPERATOR) return `another name: "${OPERATOR}" is reserved for corrections by hand`;
  if (SOURCE_NAME.test(name)) return undefined;
  return 'a name of at most 64 characters that begins with a letter or a digit';
}

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
