import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/entry.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions, nextRevision } from '../engine/revisions.ts';
import type { Sql } from '../engine/rows.ts';
import {
  isFull,
  type KeyOwner,
  type KeyRefusal,
  type KeyRestrictions,
  refuseChangedOwner,
  refuseNoAccount,
  refuseOwner,
} from './key-owner.ts';
import { type ApiKey, findKey, isActive, keysOf } from './keys.ts';

/** What can be changed after a key was created. */
export type KeyRules = Pick<ApiKey, 'name'> & KeyRestrictions;

/** The keys of accounts. `owner` is a customer who changes them; without one, it is the operator. */
export class KeyStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  of(accountId: string): Promise<ApiKey[]> {
    return keysOf(this.#engine, this.#engine.read, accountId);
  }

  find(id: string): Promise<ApiKey | undefined> {
    return findKey(this.#engine, id);
  }

  /**
   * Adds a key. An owner is refused when the account has its maximum of keys; an operator has no limit. The account may have
   * been deleted since the caller found it.
   */
  add(key: ApiKey, owner?: KeyOwner): Promise<KeyRefusal | undefined> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const { accountId } = key;
      const refusal = owner
        ? await refuseChangedOwner(this.#engine, tx, accountId, owner)
        : await refuseNoAccount(tx, accountId);
      if (refusal) return refusal;
      if (owner && (await isFull(tx, accountId, owner))) return 'full';
      await insertKey(tx, key, await nextRevision(tx, 'accounts'));
      await this.#audit.record(tx, { action: 'key.create', target: key.id, details: describe(key) });
      return undefined;
    });
  }

  /**
   * Replaces an active key by one with the same rules, which is returned. The old one expires at `oldExpiresAt`, or earlier if it
   * would have. If it was replaced before, the new key expires with it: a leaked key must not be able to replace itself for
   * good. Refused when the old key is no longer active, and for the reasons of `add`.
   */
  replace(oldId: string, oldExpiresAt: number, key: ApiKey, owner?: KeyOwner): Promise<ApiKey | KeyRefusal> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const { accountId } = key;
      const old = (await keysOf(this.#engine, tx, accountId)).find(({ id }) => id === oldId);
      if (!old || !isActive(old, key.createdAt)) return 'inactive';
      const refusal = owner && (await this.#refuseReplacing(tx, old, owner));
      if (refusal) return refusal;
      const revision = await nextRevision(tx, 'accounts');
      const ends = Math.min(old.expiresAt ?? oldExpiresAt, oldExpiresAt);
      await tx`UPDATE api_key SET revision = ${revision}, expires_at = ${ends} WHERE id = ${oldId}`;
      const issued = { ...key, ...rulesOf(old) };
      await insertKey(tx, issued, revision);
      const details = { account: accountId, replacedBy: key.id, expiresAt: ends };
      await this.#audit.record(tx, { action: 'key.rotate', target: oldId, details });
      return issued;
    });
  }

  async #refuseReplacing(tx: Sql, old: ApiKey, owner: KeyOwner): Promise<KeyRefusal | undefined> {
    // Any key may replace itself, whatever its restrictions are now: the new key has them, too.
    const refusal =
      owner.keyId === old.id
        ? await refuseOwner(tx, old.accountId, owner)
        : await refuseChangedOwner(this.#engine, tx, old.accountId, owner);
    return refusal ?? ((await isFull(tx, old.accountId, owner)) ? 'full' : undefined);
  }

  /** Changes some rules of a key that is not revoked. Returns it as it is then. */
  update(id: string, rules: Partial<KeyRules>, owner?: KeyOwner): Promise<ApiKey | KeyRefusal> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts');
      const before = await findKey(this.#engine, id, tx);
      if (!before) return 'unknown';
      const refusal = owner && (await refuseChangedOwner(this.#engine, tx, before.accountId, owner));
      if (refusal) return refusal;
      if (before.revokedAt !== null) return 'inactive';
      const key = { ...before, ...rules };
      await tx`UPDATE api_key SET name = ${key.name}, expires_at = ${key.expiresAt},
        allowed_ips = ${addressesText(key)}, header_only = ${key.headerOnly ? 1 : 0},
        revision = ${await nextRevision(tx, 'accounts')} WHERE id = ${id}`;
      const details = { account: key.accountId, ...changedFields(rulesOf(before), rulesOf(key)) };
      await this.#audit.record(tx, { action: 'key.update', target: id, details });
      return key;
    });
  }

  /** Revokes a key; false when it does not exist. A key that was revoked before keeps its time. */
  revoke(id: string, at: number): Promise<boolean> {
    return this.#engine.write((tx) => this.#writeRevoked(tx, id, at));
  }

  /** Revokes a key of the owner's account, unless no active key would be left. */
  revokeOf(accountId: string, id: string, owner: KeyOwner): Promise<KeyRefusal | undefined> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'accounts'); // no other key of the account can be revoked from here on
      const refusal = await refuseOwner(tx, accountId, owner);
      if (refusal) return refusal;
      const keys = await keysOf(this.#engine, tx, accountId);
      if (!keys.some((key) => key.id === id)) return 'unknown';
      if (!keys.some((key) => key.id !== id && isActive(key, owner.now))) return 'last';
      await this.#writeRevoked(tx, id, owner.now);
      return undefined;
    });
  }

  async #writeRevoked(tx: Sql, id: string, at: number): Promise<boolean> {
    const revision = await nextRevision(tx, 'accounts');
    const [revoked] =
      await tx`UPDATE api_key SET revoked_at = coalesce(revoked_at, ${at}), revision = ${revision}
      WHERE id = ${id} RETURNING account_id`;
    if (!revoked) return false;
    const details = { account: revoked.account_id };
    await this.#audit.record(tx, { action: 'key.revoke', target: id, details });
    return true;
  }
}

function rulesOf({ name, expiresAt, allowedIps, headerOnly }: KeyRules): KeyRules {
  return { name, expiresAt, allowedIps, headerOnly };
}

/** For the audit log: neither the key nor its hash. */
function describe(key: ApiKey): Record<string, unknown> {
  return { account: key.accountId, ...rulesOf(key) };
}

function addressesText({ allowedIps }: KeyRules): string | null {
  return allowedIps === null ? null : allowedIps.join(',');
}

async function insertKey(tx: Sql, key: ApiKey, revision: number): Promise<void> {
  await tx`INSERT INTO api_key
      (hash, id, account_id, name, created_at, expires_at, revoked_at, allowed_ips, header_only, revision)
    VALUES (${key.hash}, ${key.id}, ${key.accountId}, ${key.name}, ${key.createdAt}, ${key.expiresAt},
      ${key.revokedAt}, ${addressesText(key)}, ${key.headerOnly ? 1 : 0}, ${revision})`;
}
