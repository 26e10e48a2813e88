import { MS_PER_DAY } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, onlyRow, type Sql } from '../engine/rows.ts';
import { type ApiKey, findKey } from './keys.ts';

/** What restricts a key. */
export type KeyRestrictions = Pick<ApiKey, 'expiresAt' | 'allowedIps' | 'headerOnly'>;

/** A customer who manages the keys of their own account. */
export interface KeyOwner {
  /** The key that authenticated the request. */
  keyId: string;
  /** The restrictions of that key when the request was authorized. */
  restrictions: KeyRestrictions;
  /** How many keys the account may have. */
  keysMax: number;
  now: number;
}

/** Why a key was not created, rotated or revoked. */
export type KeyRefusal =
  | 'invalid_key'
  | 'account_suspended'
  | 'changed'
  | 'no_account'
  | 'full'
  | 'inactive'
  | 'last'
  | 'unknown';

/**
 * Returns why an owner may not change keys now, or undefined. The request was admitted before its body had arrived, and
 * its key may have been revoked since: a stolen key must not create another one. The caller holds the lock of the
 * accounts' revisions, so nothing changes until its transaction ends.
 */
export async function refuseOwner(
  tx: Sql,
  accountId: string,
  { keyId, now }: KeyOwner,
): Promise<KeyRefusal | undefined> {
  const [row] = await tx`SELECT a.status FROM api_key k JOIN account a ON a.id = k.account_id
    WHERE k.id = ${keyId} AND k.account_id = ${accountId}
      AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now})`;
  if (!row) return 'invalid_key';
  return row.status === 'suspended' ? 'account_suspended' : undefined;
}

/** Like `refuseOwner`, for what only some keys may do: also refused when the restrictions of the owner's key have changed since. */
export async function refuseChangedOwner(
  engine: Engine,
  tx: Sql,
  accountId: string,
  owner: KeyOwner,
): Promise<KeyRefusal | undefined> {
  const refusal = await refuseOwner(tx, accountId, owner);
  if (refusal) return refusal;
  const key = await findKey(engine, owner.keyId, tx);
  return textOf(key!) === textOf(owner.restrictions) ? undefined : 'changed';
}

function textOf({ expiresAt, allowedIps, headerOnly }: KeyRestrictions): string {
  return JSON.stringify([expiresAt, allowedIps, headerOnly]);
}

/** For an operator, who may create a key of any account that exists. */
export async function refuseNoAccount(tx: Sql, accountId: string): Promise<KeyRefusal | undefined> {
  const rows = await tx`SELECT 1 FROM account WHERE id = ${accountId}`;
  return rows.length === 0 ? 'no_account' : undefined;
}

/**
 * Whether the account has its maximum of keys. Counts active keys and all keys created in the last day: revoked keys stay in the
 * ledger, so creating and revoking in a loop must be limited too.
 */
export async function isFull(tx: Sql, accountId: string, { keysMax, now }: KeyOwner): Promise<boolean> {
  const row = onlyRow(
    await tx`SELECT count(*) AS n FROM api_key WHERE account_id = ${accountId} AND
    (created_at > ${now - MS_PER_DAY} OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})))`,
  );
  return asNumber(row.n) >= keysMax;
}
