import { expect, test } from 'bun:test';
import { DirtyAccounts } from './dirty-accounts.ts';

const SECOND = 1_000;

interface Account {
  accountId: string;
  since: number;
}

/** Accounts that become dirty as `spend` says, with a look every second. */
function run(
  flushMs: number,
  count: number,
  seconds: number,
  spend: (id: number, second: number) => boolean,
) {
  const ids = Array.from({ length: count }, (_, i) => `acc_${String((i * 7_919) % count).padStart(6, '0')}`);
  const known = new Map(ids.map((id) => [id, undefined]));
  const dirty = new DirtyAccounts<Account>(flushMs, known);
  const waiting = new Set<string>();
  const looks: Account[][] = [dirty.takeDue(0)];
  for (let second = 1; second <= seconds; second++) {
    for (const [i, accountId] of ids.entries()) {
      if (waiting.has(accountId) || !spend(i, second)) continue;
      waiting.add(accountId);
      dirty.add({ accountId, since: (second - 1) * SECOND }); // at the earliest
    }
    const due = dirty.takeDue(second * SECOND);
    for (const { accountId } of due) waiting.delete(accountId);
    looks.push(due);
  }
  return looks;
}

test('a count is reported before it is older than the flush interval, and busy accounts once in it', () => {
  for (const flushMs of [5_000, 60_000]) {
    const looks = run(flushMs, 500, 200, () => true);
    const ages = looks.flatMap((due, second) => due.map(({ since }) => second * SECOND - since));
    expect(Math.max(...ages)).toBeLessThanOrEqual(flushMs);
    expect(ages.length).toBeLessThan((1.35 * 500 * 200 * SECOND) / flushMs);
  }
});

test('accounts that spend at any time are reported evenly, in the order of their ids', () => {
  const looks = run(60_000, 3_000, 240, (id, second) => (id * 31 + second) % 60 === 0).slice(120);
  const sizes = looks.map((due) => due.length);
  expect(Math.max(...sizes)).toBeLessThan(3 * (3_000 / 60));
  const firsts = looks.filter((due) => due.length > 0).map((due) => due[0]!.accountId);
  const lasts = looks.filter((due) => due.length > 0).map((due) => due.at(-1)!.accountId);
  const starts = firsts.filter((first, i) => i > 0 && first <= lasts[i - 1]!);
  expect(starts.length).toBeLessThanOrEqual(2 * 2); // a new round about once a minute, in the middle of a look
});

test('with looks as rare as the interval, everything is due at each of them', () => {
  const dirty = new DirtyAccounts<{ accountId: string }>(1_000, new Map());
  dirty.takeDue(0);
  dirty.add({ accountId: 'ant' });
  dirty.add({ accountId: 'ape' });
  expect(dirty.takeDue(1_000).map(({ accountId }) => accountId)).toEqual(['ant', 'ape']);
});
