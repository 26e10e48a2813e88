import { expect, test } from 'bun:test';
import { NO_PLACE, type Reported, ReportRounds } from './report-rounds.ts';

const SECOND = 1_000;

interface Account extends Reported {
  since: number;
}

/** Accounts that spend as `spends` says, with a look every second. */
function run(
  intervalMs: number,
  count: number,
  seconds: number,
  spends: (id: number, second: number) => boolean,
) {
  const ids = Array.from({ length: count }, (_, i) => `acc_${String((i * 7_919) % count).padStart(6, '0')}`);
  const rounds = new ReportRounds<Account>(intervalMs);
  const waiting = new Set<string>();
  const looks: Account[][] = [rounds.takeDue(0)];
  for (let second = 1; second <= seconds; second++) {
    for (const [i, accountId] of ids.entries()) {
      if (waiting.has(accountId) || !spends(i, second)) continue;
      waiting.add(accountId);
      rounds.add({ accountId, since: (second - 1) * SECOND, reportPlace: NO_PLACE }); // at the earliest
    }
    const due = rounds.takeDue(second * SECOND);
    for (const { accountId } of due) waiting.delete(accountId);
    looks.push(due);
  }
  return looks;
}

test('a count is reported before it is older than the interval, and busy accounts once in it', () => {
  for (const [intervalMs, count] of [
    [5_000, 500],
    [60_000, 6_000],
  ] as const) {
    const looks = run(intervalMs, count, 320, () => true);
    const ages = looks.flatMap((due, second) => due.map(({ since }) => second * SECOND - since));
    expect(Math.max(...ages)).toBeLessThanOrEqual(intervalMs);
    const settled = looks.slice(120).flat(); // after two rounds, the ranges hardly change
    expect(settled.length).toBeLessThan((1.35 * count * 200 * SECOND) / intervalMs);
  }
});

test('few accounts do not wait for the end of the interval: dozens are reported in any second', () => {
  for (const [count, seconds] of [
    [1, 2],
    [50, 2],
    [500, 15],
  ] as const) {
    const looks = run(300_000, count, 60, () => true);
    const ages = looks.flatMap((due, second) => due.map(({ since }) => second * SECOND - since));
    expect(Math.max(...ages)).toBeLessThanOrEqual(seconds * SECOND);
    expect(Math.max(...looks.map((due) => due.length))).toBeLessThan(130);
  }
});

test('accounts that spend at any time are reported evenly, in the order of their ids', () => {
  const looks = run(60_000, 9_000, 240, (id, second) => (id * 31 + second) % 60 === 0).slice(120);
  const sizes = looks.map((due) => due.length);
  expect(Math.max(...sizes)).toBeLessThan(3 * (9_000 / 60));
  const firsts = looks.filter((due) => due.length > 0).map((due) => due[0]!.accountId);
  const lasts = looks.filter((due) => due.length > 0).map((due) => due.at(-1)!.accountId);
  const starts = firsts.filter((first, i) => i > 0 && first <= lasts[i - 1]!);
  expect(starts.length).toBeLessThanOrEqual(2 * 2); // a new round about once a minute, in the middle of a look
});

test('with looks as rare as the interval, everything is due at each of them', () => {
  const rounds = new ReportRounds(1_000);
  rounds.takeDue(0);
  rounds.add({ accountId: 'ant', reportPlace: NO_PLACE });
  rounds.add({ accountId: 'ape', reportPlace: NO_PLACE });
  expect(rounds.takeDue(1_000).map(({ accountId }) => accountId)).toEqual(['ant', 'ape']);
});

test('an interval shorter than a second is kept with few accounts too', () => {
  const rounds = new ReportRounds(500);
  rounds.takeDue(0);
  rounds.add({ accountId: 'ant', reportPlace: NO_PLACE });
  expect(rounds.takeDue(400)).toEqual([]);
  expect(rounds.takeDue(500).map(({ accountId }) => accountId)).toEqual(['ant']);
});

test('everything that waits can be taken at once', () => {
  const rounds = new ReportRounds(60_000);
  rounds.takeDue(0);
  rounds.add({ accountId: 'ox', reportPlace: NO_PLACE });
  rounds.takeDue(100);
  rounds.add({ accountId: 'ant', reportPlace: NO_PLACE });
  expect(rounds.takeAll().map(({ accountId }) => accountId)).toEqual(['ant', 'ox']);
  expect(rounds.takeAll()).toEqual([]);
  expect(rounds.takeDue(120_000)).toEqual([]);
});

test('many accounts are reported a few at a time, and few accounts once a second', () => {
  const takes = (count: number) => {
    const rounds = new ReportRounds<Account>(60_000);
    const accounts = Array.from({ length: count }, (_, i) => ({
      accountId: `acc_${String((i * 7_919) % count).padStart(6, '0')}`,
      since: Number.NaN,
      reportPlace: NO_PLACE,
    }));
    const sizes: number[] = [];
    for (let ms = 0; ms <= 180_000; ms += 100) {
      for (let i = Math.floor((ms * count) / 60_000); i < ((ms + 100) * count) / 60_000; i++) {
        const account = accounts[i % count]!;
        if (account.since >= 0) continue;
        account.since = ms;
        rounds.add(account);
      }
      const due = rounds.takeDue(ms);
      expect(due).toEqual(due.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1)));
      for (const account of due) {
        expect(ms - account.since).toBeLessThanOrEqual(60_000);
        account.since = Number.NaN;
      }
      if (ms > 120_000 && due.length > 0) sizes.push(due.length);
    }
    return sizes;
  };
  const many = takes(100_000);
  expect(many.length).toBeGreaterThan(500);
  expect(Math.max(...many)).toBeLessThan(1_000);
  expect(takes(1_000).length).toBeLessThanOrEqual(60);
});
