import type { AuditLog } from '../audit/audit-log.ts';
import { asText, onlyRow, type Sql } from '../engine/rows.ts';

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
