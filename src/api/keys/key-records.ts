import type { IssuedKey } from '../../gate/onboarding.ts';
import { type ApiKey, keyStatus } from '../../ledger/accounts/keys.ts';

/** A key as shown to its owner and to operators. Times are in seconds. */
export function keyRecord(key: Omit<ApiKey, 'hash'>, now: number) {
  const status = keyStatus(key, now);
  return {
    id: key.id,
    name: key.name,
    status,
    createdAt: Math.floor(key.createdAt / 1000),
    expiresAt: key.expiresAt === null ? null : Math.floor(key.expiresAt / 1000),
    allowedIps: key.allowedIps,
    headerOnly: key.headerOnly,
  };
}

/** The keys of an account, with the last use of each. */
export function listedKeys(keys: readonly ApiKey[], lastUses: ReadonlyMap<string, number>, now: number) {
  return keys.map((key) => {
    const lastAt = lastUses.get(key.id);
    return { ...keyRecord(key, now), lastUsedAt: lastAt === undefined ? null : Math.floor(lastAt / 1000) };
  });
}

/** The only response that contains the secret itself. */
export function issuedKey({ text, key }: IssuedKey, now: number) {
  return { success: true, apiKey: text, key: keyRecord(key, now) };
}
