import type { Sql } from '../engine/rows.ts';
import type { CounterName } from '../engine/statements.ts';

/** The counter that says from which revision on the changes of another counter are complete. */
export type HorizonName = `${CounterName}-from`;

/**
 * Notes that changes up to a revision can no longer be followed one by one: rows that told of them are gone. A follower
 * that has seen less than this reloads everything.
 */
export async function raiseHorizon(tx: Sql, counter: CounterName, revision: number): Promise<void> {
  const name: HorizonName = `${counter}-from`;
  await tx`INSERT INTO counter (name, value) VALUES (${name}, ${revision}) ON CONFLICT (name) DO UPDATE
    SET value = CASE WHEN excluded.value > counter.value THEN excluded.value ELSE counter.value END`;
}
