import type { AuditLog } from '../audit/audit-log.ts';
import { asText, onlyRow, type Sql } from '../engine/rows.ts';

/** Who decides on a held bar that a later one of its source replaces. All others that are dropped, an operator has dropped. */
export const LATER_BAR = 'a later bar of its source';

/** A held tick or bar that somebody has decided on. */
interface DecidedPrice {
  id: number;
  symbolId: number;
  price: number;
}

/** Records the decision about a held price, by the code of its symbol. */
export async function recordDecision(
  tx: Sql,
  audit: AuditLog,
  action: 'quarantine.release' | 'quarantine.drop',
  { id, symbolId, price }: DecidedPrice,
): Promise<void> {
  const { code } = onlyRow(await tx`SELECT code FROM symbol WHERE id = ${symbolId}`);
  await audit.record(tx, { action, target: asText(code), details: { id, price } });
}
