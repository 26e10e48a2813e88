import { asNumber, onlyRow, type Sql } from './rows.ts';

/** The two revision counters: one orders prices and symbols, the other accounts, plans and keys. */
export type CounterName = 'prices' | 'accounts';

/** The counter that holds the revision from which the change log of another counter is complete. */
export type HorizonName = `${CounterName}-from`;

/**
 * Takes the next revision. The row stays locked until the transaction ends, so revisions are committed in order: a
 * follower that has seen `n` has seen everything below it. A sequence would not guarantee that.
 */
export async function nextRevision(tx: Sql, counter: CounterName): Promise<number> {
  const row = onlyRow(await tx`UPDATE counter SET value = value + 1 WHERE name = ${counter} RETURNING value`);
  return asNumber(row.value);
}

/** Numbers that are never used again, also when the rows that had them are deleted. */
export type SequenceName = 'last-import' | 'last-quarantine-id';

/**
 * Takes the next `count` numbers and returns the first. `lastUsed` is the highest number of the existing rows: the sequence may be
 * younger than they are. The row of the sequence stays locked until the transaction ends.
 */
export async function takeNumbers(
  tx: Sql,
  sequence: SequenceName,
  { lastUsed, count = 1 }: { lastUsed: number; count?: number },
): Promise<number> {
  const row = onlyRow(
    await tx`INSERT INTO counter (name, value) VALUES (${sequence}, ${lastUsed + count}) ON CONFLICT (name) DO UPDATE
      SET value = CASE WHEN excluded.value > counter.value + ${count} THEN excluded.value
        ELSE counter.value + ${count} END
      RETURNING value`,
  );
  return asNumber(row.value) - count + 1;
}

/** Blocks every other writer of revisions until the transaction ends, without taking a revision. */
export async function lockRevisions(tx: Sql, counter: CounterName): Promise<void> {
  await tx`UPDATE counter SET value = value WHERE name = ${counter}`;
}

/**
 * Records that the change log is incomplete up to a revision, because rows of it were deleted. A follower that has seen
 * less reloads everything.
 */
export async function raiseHorizon(tx: Sql, counter: CounterName, revision: number): Promise<void> {
  const name: HorizonName = `${counter}-from`;
  await tx`INSERT INTO counter (name, value) VALUES (${name}, ${revision}) ON CONFLICT (name) DO UPDATE
    SET value = CASE WHEN excluded.value > counter.value THEN excluded.value ELSE counter.value END`;
}
