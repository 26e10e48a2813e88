import { expect, test } from 'bun:test';
import type { Board } from '../../board/board.ts';
import { View } from '../../board/views/view.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import { latest } from '../endpoints/rates/latest.ts';
import { encodeText } from '../model/byte-writer.ts';
import { DIALECTS } from '../versions/dialects.ts';
import { AnswerCache, answerFor, type KnownUrl } from './answer-cache.ts';
import { CachedAnswer } from './cached-answer.ts';

const NOW = Date.UTC(2026, 10, 16, 12);
const READ = {
  endpoint: latest,
  dialect: DIALECTS.v1,
  pathFormat: undefined,
  namesFormat: false,
  hasFormulas: false,
};
const BOARD = { catalog: {} } as Board;
const BYTES_MAX = 4 * 1024 * 1024;
const BODY = 'x'.repeat(500);

function planNamed(name: string): Plan {
  return { name, quota: 10, burstPerSecond: 1 } as Plan;
}

const PLAN = planNamed('live');

function cacheOf(bytesMax: number) {
  const admitsOnSecondUse = { slots: 65_536, rememberedMs: 3_600_000 };
  const urls = new BoundedCache<string, KnownUrl>({ bytesMax, admitsOnSecondUse });
  const cache = new AnswerCache(urls);
  /** Asks once. Returns whether the answer was cached. */
  function ask(url: string, plan = PLAN, now = NOW): boolean {
    const known = cache.find(url);
    if (known && answerFor(plan, known)?.isCurrent(now)) return true;
    const body = { ...encodeText(BODY), contentFrom: 0, type: 'application/json' };
    const tags = { etag: '"a"', status: 200, finality: 'live', link: undefined, warnings: {} } as const;
    const answer = new CachedAnswer({ body, ...tags, plan });
    const view = new View(0, 0);
    cache.keep(url, READ, answer, {
      board: BOARD,
      view,
      series: [],
      version: 0,
      now,
      changesEverySecond: false,
    });
    return false;
  }
  return { urls, cache, ask };
}

test('a URL is cached on its first request while the cache has room, and not on its first in a full cache', () => {
  const { urls, ask } = cacheOf(BYTES_MAX);
  let asked = 0;
  while (!urls.isNearlyFull) expect(ask(`/first/${asked++}`)).toBe(false);
  expect(urls.size).toBe(asked);
  expect(ask('/first/0')).toBe(true);
  for (let i = 0; i < 1_000; i++) ask(`/once/${i}`);
  expect(urls.size).toBe(asked);
  expect(urls.evictions).toBe(0);
});

test('requests that cycle through more URLs than fit are partly answered from the cache', () => {
  const { urls, ask } = cacheOf(BYTES_MAX);
  const asked = Array.from({ length: 5_000 }, (_, i) => `/rates/latest?symbols=A${i}`);
  for (let round = 0; round < 3; round++) for (const url of asked) ask(url);
  expect(urls.evictions).toBeGreaterThan(0);
  const hits = asked.filter((url) => ask(url)).length;
  expect(hits).toBeGreaterThan(0.7 * urls.size);
});

test('a full cache still admits new entries: they replace what is no longer requested', () => {
  const { urls, ask } = cacheOf(BYTES_MAX);
  for (let i = 0; i < 20_000; i++) ask(`/old/${i >> 1}`);
  expect(urls.isNearlyFull).toBe(true);
  const asked = Array.from({ length: 500 }, (_, i) => `/new/${i}`);
  for (let round = 0; round < 100; round++) for (const url of asked) ask(url);
  expect(asked.filter((url) => ask(url)).length).toBeGreaterThan(0.9 * asked.length);
});

test('plans have answers of their own, and an outdated one is dropped when another is added', () => {
  const { cache, ask } = cacheOf(BYTES_MAX);
  const url = '/rates/latest?symbols=XAU';
  const [free, pro] = [planNamed('free'), planNamed('pro')];
  for (const plan of [free, free, pro]) ask(url, plan);
  expect(plansOf(cache.find(url)!)).toEqual(['free', 'pro']);
  ask(url, pro, NOW + 3_600_000);
  expect(plansOf(cache.find(url)!)).toEqual(['pro']);
});

function plansOf({ newest, others }: KnownUrl): string[] {
  return [...others, newest].map(({ plan }) => plan.name);
}
