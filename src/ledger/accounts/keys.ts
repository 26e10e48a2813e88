import type { Engine } from '../engine/engine.ts';
import { asFlag, asNumber, asText, nullable, rowReader, type Sql } from '../engine/rows.ts';

/** Characters of a name. */
export const KEY_NAME_MAX = 64;

/** A key in the ledger: its hash, never the key itself. */
export interface ApiKey {
  id: string;
  hash: string;
  accountId: string;
  /** What the owner calls it; empty if it has no name. */
  name: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** Addresses and CIDR ranges that may use it; null for any. */
  allowedIps: readonly string[] | null;
  /** Whether it is refused in a URL. */
  headerOnly: boolean;
}

export const KEY = rowReader<ApiKey>({
  id: asText,
  hash: asText,
  accountId: asText,
  name: asText,
  createdAt: asNumber,
  expiresAt: nullable(asNumber),
  revokedAt: nullable(asNumber),
  allowedIps: nullable((cell) => asText(cell).split(',').filter(Boolean)),
  headerOnly: asFlag,
});

/** The only check of a key's validity. */
export function keyStatus(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'active' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt === null || expiresAt > now ? 'active' : 'expired';
}

export function isActive(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: number): boolean {
  return keyStatus(key, now) === 'active';
}

export async function findKey(
  { read, placeholder: p }: Engine,
  id: string,
  handle: Sql = read,
): Promise<ApiKey | undefined> {
  const [row] = await handle.unsafe(`SELECT ${KEY.columns} FROM api_key WHERE id = ${p(1)}`, [id]);
  return row && KEY.read(row);
}

export async function keysOf({ placeholder: p }: Engine, handle: Sql, accountId: string): Promise<ApiKey[]> {
  const select = `SELECT ${KEY.columns} FROM api_key WHERE account_id = ${p(1)} ORDER BY created_at, id`;
  return (await handle.unsafe(select, [accountId])).map(KEY.read);
}
