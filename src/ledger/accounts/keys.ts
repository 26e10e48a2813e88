import type { Engine } from '../engine/engine.ts';
import { lockRevisions, nextRevision } from '../engine/revisions.ts';
import { asFlag, asNumber, asText, nullable, rowReader, type Sql } from '../engine/rows.ts';
import { type KeyOwner, type KeyRefusal, refuseNewKey, refuseOwner } from './key-owner.ts';

/** A key in the ledger: its hash, never the key itself. */
export interface ApiKey {
  id: string;
  hash: string;
  accountId: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** Addresses and CIDR ranges that may use it; null for any. */
  allowedIps: string[] | null;
  /** Whether it is refused in a URL. */
  headerOnly: boolean;
}

export const KEY = rowReader<ApiKey>({
  id: asText,
  hash: asText,
  accountId: asText,
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

export async function findKey({ read, placeholder: p }: Engine, id: string): Promise<ApiKey | undefined> {
  const [row] = await read.unsafe(`SELECT ${KEY.columns} FROM api_key WHERE id = ${p(1)}`, [id]);
  return row && KEY.read(row);
}

export async function keysOf({ placeholder: p }: Engine, handle: Sql, accountId: string): Promise<ApiKey[]> {
  const select = `SELECT ${KEY.columns} FROM api_key WHERE account_id = ${p(1)} ORDER BY created_at, id`;
  return (await handle.unsafe(select, [accountId])).map(KEY.read);
}

/** Adds a key. An owner is refused when the account has its maximum of keys; without `owner` there is no limit. */
export function addKey(engine: Engine, key: ApiKey, owner?: KeyOwner): Promise<KeyRefusal | undefined> {
  return engine.write(async (tx) => {
    await lockRevisions(tx, 'accounts');
    const refusal = owner && (await refuseNewKey(tx, key.accountId, owner));
    if (refusal) return refusal;
    await insertKey(tx, key, await nextRevision(tx, 'accounts'));
    return undefined;
  });
}

/**
 * Replaces an active key. The old one expires at `oldExpiresAt`, or earlier if it would have. Refused when the old key is
 * no longer active, and for the reasons of `addKey`.
 */
export function replaceKey(
  engine: Engine,
  oldId: string,
  oldExpiresAt: number,
  key: ApiKey,
  owner?: KeyOwner,
): Promise<KeyRefusal | undefined> {
  return engine.write(async (tx) => {
    await lockRevisions(tx, 'accounts');
    const old = (await keysOf(engine, tx, key.accountId)).find(({ id }) => id === oldId);
    if (!old || !isActive(old, key.createdAt)) return 'inactive';
    const refusal = owner && (await refuseNewKey(tx, key.accountId, owner));
    if (refusal) return refusal;
    const revision = await nextRevision(tx, 'accounts');
    await tx`UPDATE api_key SET revision = ${revision}, expires_at =
      CASE WHEN expires_at IS NULL OR expires_at > ${oldExpiresAt} THEN ${oldExpiresAt} ELSE expires_at END
      WHERE id = ${oldId}`;
    await insertKey(tx, key, revision);
    return undefined;
  });
}

/** Revokes a key; false when it does not exist. A key that was revoked before keeps its time. */
export function revokeKey(engine: Engine, id: string, at: number): Promise<boolean> {
  return engine.write((tx) => writeRevoked(tx, id, at));
}

/** Revokes a key of the owner's account, unless no active key would be left. */
export function revokeKeyOf(
  engine: Engine,
  accountId: string,
  id: string,
  owner: KeyOwner,
): Promise<KeyRefusal | undefined> {
  return engine.write(async (tx) => {
    await lockRevisions(tx, 'accounts'); // no other key of the account can be revoked from here on
    const refusal = await refuseOwner(tx, accountId, owner);
    if (refusal) return refusal;
    const keys = await keysOf(engine, tx, accountId);
    if (!keys.some((key) => key.id === id)) return 'unknown';
    if (!keys.some((key) => key.id !== id && isActive(key, owner.now))) return 'last';
    await writeRevoked(tx, id, owner.now);
    return undefined;
  });
}

async function writeRevoked(tx: Sql, id: string, at: number): Promise<boolean> {
  const revision = await nextRevision(tx, 'accounts');
  const revoked = await tx`UPDATE api_key SET revoked_at = coalesce(revoked_at, ${at}), revision = ${revision}
    WHERE id = ${id} RETURNING id`;
  return revoked.length > 0;
}

async function insertKey(tx: Sql, key: ApiKey, revision: number): Promise<void> {
  await tx`INSERT INTO api_key
      (hash, id, account_id, created_at, expires_at, revoked_at, allowed_ips, header_only, revision)
    VALUES (${key.hash}, ${key.id}, ${key.accountId}, ${key.createdAt}, ${key.expiresAt}, ${key.revokedAt},
      ${key.allowedIps === null ? null : key.allowedIps.join(',')}, ${key.headerOnly ? 1 : 0}, ${revision})`;
}
