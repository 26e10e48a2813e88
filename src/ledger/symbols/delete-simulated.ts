import type { Engine } from '../engine/engine.ts';
import { asNumber } from '../engine/rows.ts';
import { SIMULATED_ID } from './sources.ts';

/**
 * Deletes all simulated prices, one symbol after the other, so that no write waits long. The new epoch makes every follower
 * reload. Real prices stay.
 */
export async function deleteSimulated(engine: Engine): Promise<void> {
  const rows = await engine.read`SELECT id FROM symbol`;
  for (const id of rows.map((row) => asNumber(row.id))) {
    await engine.write(async (tx) => {
      await tx`DELETE FROM bar WHERE symbol_id = ${id} AND source_id = ${SIMULATED_ID}`;
      await tx`DELETE FROM tick WHERE symbol_id = ${id} AND source_id = ${SIMULATED_ID}`;
      await tx`DELETE FROM hour_bar WHERE symbol_id = ${id} AND source_id = ${SIMULATED_ID}`;
      await tx`DELETE FROM bar_change WHERE symbol_id = ${id}
        AND NOT EXISTS (SELECT 1 FROM bar b WHERE b.symbol_id = ${id})`;
    });
  }
  await engine.write(async (tx) => {
    await tx`UPDATE meta SET value = ${crypto.randomUUID()} WHERE name = 'epoch'`;
  });
}
