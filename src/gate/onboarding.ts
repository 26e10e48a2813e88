import type { Account } from '../ledger/accounts/accounts.ts';
import type { KeyOwner, KeyRefusal } from '../ledger/accounts/key-owner.ts';
import type { ApiKey } from '../ledger/accounts/keys.ts';
import { UnknownPlan } from '../ledger/accounts/plans.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { AddressList } from './addresses.ts';
import { createId, createKey, hashKey, secureRandom } from './key.ts';

/** The account of the key that the page gives to every visitor, when the operator has set a public plan. */
export const PUBLIC_ACCOUNT = 'acc_public';

export interface KeyOptions {
  name?: string;
  expiresAt?: number;
  allowedIps?: readonly string[];
  headerOnly?: boolean;
}

/** A key's text, which is shown once, and the record that is stored. */
export interface IssuedKey {
  text: string;
  key: ApiKey;
}

/** Creates an account and its first key. Throws when there is no such plan. */
export async function createAccount(
  ledger: Ledger,
  { name, plan }: { name: string; plan: string },
  now: number,
): Promise<{ account: Account; issued: IssuedKey }> {
  await requirePlan(ledger, plan);
  const account: Account = {
    id: createId('acc', secureRandom),
    name,
    plan,
    status: 'active',
    createdAt: now,
  };
  await ledger.accounts.create(account);
  return { account, issued: await issueKey(ledger, account.id, {}, now) };
}

export async function issueKey(
  ledger: Ledger,
  accountId: string,
  options: KeyOptions,
  now: number,
  owner?: KeyOwner,
): Promise<IssuedKey> {
  await requireAccount(ledger, accountId);
  const issued = makeKey(accountId, options, now);
  const refusal = await ledger.keys.add(issued.key, owner);
  if (refusal) throw new KeyRefused(refusal);
  return issued;
}

/** Makes sure that an account exists and has a key with this text, which the caller stores elsewhere. */
export async function addKnownKey(
  ledger: Ledger,
  account: { id: string; name: string; plan: string },
  text: string,
  now: number,
): Promise<void> {
  await ledger.accounts.ensure({ ...account, status: 'active', createdAt: now });
  await ledger.keys.add({ ...makeKey(account.id, {}, now).key, hash: hashKey(text) });
}

/** Replaces a key by one with the same rules. The old one works until the overlap ends. */
export async function rotateKey(
  ledger: Ledger,
  old: Pick<ApiKey, 'id' | 'accountId'>,
  overlapMs: number,
  now: number,
  owner?: KeyOwner,
): Promise<IssuedKey> {
  const { text, key } = makeKey(old.accountId, {}, now);
  const issued = await ledger.keys.replace(old.id, now + overlapMs, key, owner);
  if (typeof issued === 'string') throw new KeyRefused(issued);
  return { text, key: issued };
}

/** The ledger refused a key. */
export class KeyRefused extends Error {
  readonly refusal: KeyRefusal;

  constructor(refusal: KeyRefusal) {
    super(
      refusal === 'inactive'
        ? 'the key is revoked or has expired; create a new one instead'
        : `the key was refused: ${refusal}`,
    );
    this.refusal = refusal;
  }
}

export async function requireAccount(ledger: Ledger, id: string): Promise<Account> {
  const account = await ledger.accounts.find(id);
  if (!account) throw new Error(`there is no account ${id}; openpit account list lists them`);
  return account;
}

function makeKey(accountId: string, options: KeyOptions, now: number): IssuedKey {
  const allowedIps = options.allowedIps?.length ? [...options.allowedIps] : null;
  if (allowedIps) new AddressList(allowedIps); // throws if an entry is invalid
  const text = createKey(secureRandom);
  const key: ApiKey = {
    id: createId('key', secureRandom),
    hash: hashKey(text),
    accountId,
    name: options.name ?? '',
    createdAt: now,
    expiresAt: options.expiresAt ?? null,
    revokedAt: null,
    allowedIps,
    headerOnly: options.headerOnly ?? false,
  };
  return { text, key };
}

export async function requirePlan(ledger: Ledger, name: string): Promise<void> {
  const names = (await ledger.plans.list()).map((plan) => plan.name);
  if (!names.includes(name)) throw new UnknownPlan(name, names);
}
