import { isAddressOrRange, RANGES_MAX } from '../../gate/addresses.ts';
import { hashKey, isWellFormed } from '../../gate/key.ts';
import {
  type IssuedKey,
  issueKey,
  type KeyOptions,
  requireAccount,
  rotateKey,
} from '../../gate/onboarding.ts';
import { type ApiKey, KEY_NAME_MAX, keyStatus } from '../../ledger/accounts/keys.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { parseDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  plainName,
  table,
  UsageError,
  wholeFlag,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

/** One day: enough time to change the key in every program that uses it. */
const OVERLAP_SECONDS = 86_400;
const OVERLAP_SECONDS_MAX = 366 * 86_400;

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    summary: 'Create another key for an account; it is shown only once',
    examples: ['key create --account acc_4fGh1Kq0ZsPw --expires 2027-12-31 --allow-ip 203.0.113.0/24'],
    flags: {
      account: { value: 'ID', required: true, help: 'The account' },
      name: { value: 'NAME', help: 'What the key is for; the owner of the account sees it' },
      expires: {
        value: 'TIME',
        help: 'Expiry: a day (until its end) or an ISO time, in UTC unless it has an offset',
      },
      'allow-ip': {
        value: 'LIST',
        help: 'Addresses and CIDR ranges that may use the key, separated by commas',
      },
      'header-only': { help: 'Refuse the key when it is sent in a URL' },
      ...JSON_FLAG,
    },
    async run(call) {
      const account = call.required('account');
      const now = systemClock.now();
      const options = readOptions(call, now);
      await call.withLedger(async (ledger) => {
        print(call, account, await issueKey(ledger, account, options, now));
      });
    },
  },
  {
    name: 'key list',
    summary: 'List the keys of an account with their names and restrictions, but not the keys themselves',
    flags: { account: { value: 'ID', required: true, help: 'The account' }, ...JSON_FLAG },
    async run(call) {
      const id = call.required('account');
      await call.withLedger(async (ledger) => {
        await requireAccount(ledger, id);
        const now = systemClock.now();
        const keys = (await ledger.keys.of(id)).map(({ hash: _, ...key }) => ({
          ...key,
          status: keyStatus(key, now),
        }));
        if (call.isSet('json')) return printLine(JSON.stringify(keys));
        const head = ['id', 'name', 'status', 'created', 'expires', 'addresses', 'in URLs'];
        const cells = keys.map((key) => [
          key.id,
          key.name,
          key.status,
          new Date(key.createdAt).toISOString(),
          key.expiresAt === null ? 'never' : new Date(key.expiresAt).toISOString(),
          key.allowedIps?.join(' ') ?? 'any',
          key.headerOnly ? 'refused' : 'allowed',
        ]);
        printLine(table([head, ...cells]));
      });
    },
  },
  {
    name: 'key rotate',
    operands: ['KEY'],
    summary: 'Replace a key: create a new one, and let the old one expire after the overlap',
    flags: {
      'overlap-seconds': { value: 'N', help: `How long the old key keeps working (${OVERLAP_SECONDS})` },
      ...JSON_FLAG,
    },
    async run(call) {
      const overlap = wholeFlag(call, 'overlap-seconds', 0, OVERLAP_SECONDS_MAX) ?? OVERLAP_SECONDS;
      await call.withLedger(async (ledger) => {
        const old = await findKey(ledger, call.operands[0]!);
        const issued = await rotateKey(ledger, old, overlap * 1000, systemClock.now());
        print(call, old.accountId, issued);
        if (call.isSet('json')) return;
        const { expiresAt } = (await ledger.keys.find(old.id))!;
        printLine(`The old key ${old.id} works until ${new Date(expiresAt!).toISOString()}.`);
      });
    },
  },
  {
    name: 'key revoke',
    operands: ['KEY'],
    summary: 'Revoke a key, by its id or by the key itself; every replica refuses it within a second',
    flags: JSON_FLAG,
    async run({ withLedger, operands, isSet }) {
      await withLedger(async (ledger) => {
        const { id } = await findKey(ledger, operands[0]!);
        await ledger.keys.revoke(id, systemClock.now());
        if (isSet('json')) return printLine(JSON.stringify({ keyId: id, revoked: true }));
        printLine(`Key ${id} is revoked.`);
      });
    },
  },
];

function readOptions(call: CommandCall, now: number): KeyOptions {
  const name = call.flag('name');
  const expires = call.flag('expires');
  const addresses = call.flag('allow-ip');
  return {
    headerOnly: call.isSet('header-only'),
    ...(name !== undefined && { name: plainName('--name', name, KEY_NAME_MAX) }),
    ...(expires !== undefined && { expiresAt: readExpiry(expires, now) }),
    ...(addresses !== undefined && { allowedIps: readAddresses(addresses) }),
  };
}

/** An empty list is refused: it would create a key without a restriction. */
function readAddresses(text: string): string[] {
  const entries = text.split(',').flatMap((entry) => entry.trim() || []);
  if (entries.length > RANGES_MAX) {
    throw new UsageError(
      `--allow-ip may have at most ${RANGES_MAX} addresses and ranges (received ${entries.length})`,
    );
  }
  if (entries.length > 0 && entries.every(isAddressOrRange)) return entries;
  throw new UsageError(
    `--allow-ip must be addresses and ranges such as 203.0.113.7,10.0.0.0/8 (received "${text}")`,
  );
}

/** `Date.parse` alone would accept days that do not exist: February 30 is March 2 for it. */
function readExpiry(text: string, now: number): number {
  const [day = '', time] = text.split('T');
  const isZoned = /(Z|[+-]\d\d:?\d\d)$/i.test(time ?? '');
  const at = Date.parse(time === undefined ? `${day}T23:59:59.999Z` : isZoned ? text : `${text}Z`);
  if (parseDay(day) === undefined || Number.isNaN(at))
    throw new UsageError(`--expires must be a day or an ISO time (received "${text}")`);
  if (at <= now) throw new UsageError(`--expires must be in the future (received "${text}")`);
  return at;
}

/** Finds a key by its id or by the key itself. */
async function findKey(ledger: Ledger, given: string): Promise<ApiKey> {
  const key = isWellFormed(given)
    ? (await ledger.accounts.byKeyHash(hashKey(given)))?.key
    : await ledger.keys.find(given);
  if (!key) throw new Error('there is no such key; pass its id (key_…) or the key itself (pit_live_…)');
  return key;
}

function print(call: CommandCall, account: string, { text, key }: IssuedKey): void {
  if (call.isSet('json')) printLine(JSON.stringify({ account, key: text, keyId: key.id }));
  else {
    const until = key.expiresAt === null ? '' : `, valid until ${new Date(key.expiresAt).toISOString()}`;
    printLine(`Key ${key.id} of ${account}${until}, shown only once: ${text}`);
  }
}
