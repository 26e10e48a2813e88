import { createKey } from '../../src/gate/key.ts';
import { Seeded } from '../../test/support/seeded.ts';

/** A customer of the benchmark: an account with one key and a few requests of its own. */
export interface BenchCustomer {
  accountId: string;
  key: string;
  /** Whether the key travels in the URL rather than in a header. */
  isKeyInUrl: boolean;
  /** Paths with their query, without the key. */
  paths: string[];
}

const PATHS_EACH = 5;
const SYMBOLS_MAX = 9;
const SPAN_DAYS_MAX = 30;
const DAY_MS = 86_400_000;

/** How the population asks, for the report. */
export const POPULATION =
  'Every account has five requests of its own: 60 % latest, 20 % historical, 10 % time-series (2 to 30 days), 10 % fluctuation (up to a year), of 1 to 9 symbols (the smaller of two random numbers), chosen by Zipf’s law (the most popular symbol is requested twice as often as the second). Dates are within the last year, with more weight on recent ones. Every other account sends its key in the URL.';

/** The same customers in every run. */
export function population(count: number, codes: readonly string[], today: number): BenchCustomer[] {
  const random = new Seeded(20_261_116);
  const pick = zipf(codes, random);
  return Array.from({ length: count }, (_, i) => ({
    accountId: `acc_${i}`,
    key: createKey((length) => Uint8Array.from({ length }, () => Math.floor(random.next() * 256))),
    isKeyInUrl: i % 2 === 1,
    paths: Array.from({ length: PATHS_EACH }, () => randomPath(random, pick, today)),
  }));
}

/** All requests of all customers, shuffled: the order in which the load generator sends them. */
export function requestsOf(customers: readonly BenchCustomer[]): { path: string; key?: string }[] {
  const all = customers.flatMap((customer) => customer.paths.map((path) => asRequest(customer, path)));
  return shuffle(all);
}

/** The same request from every customer, with the key in a header. */
export function sameRequestOf(
  customers: readonly BenchCustomer[],
  path: string,
): { path: string; key: string }[] {
  return shuffle(customers.map(({ key }) => ({ path, key })));
}

/** The first request of each customer. */
export function firstRequestsOf(customers: readonly BenchCustomer[]): { path: string; key?: string }[] {
  return shuffle(customers.map((customer) => asRequest(customer, customer.paths[0]!)));
}

function asRequest({ key, isKeyInUrl }: BenchCustomer, path: string): { path: string; key?: string } {
  return isKeyInUrl ? { path: `${path}&apiKey=${key}` } : { path, key };
}

function randomPath(random: Seeded, pick: () => string, today: number): string {
  const draw = () => 1 + Math.floor(random.next() * SYMBOLS_MAX);
  const codes = new Set<string>();
  for (const count = Math.min(draw(), draw()); codes.size < count; ) codes.add(pick());
  const symbols = `symbols=${[...codes].join(',')}`;
  const kind = random.next();
  if (kind < 0.6) return `/rates/latest?${symbols}`;
  const end = today - 1 - Math.floor(365 * random.next() ** 3);
  if (kind < 0.8) return `/rates/historical?${symbols}&date=${print(end)}`;
  const isSeries = kind < 0.9;
  const span = isSeries
    ? 2 + Math.floor(random.next() * (SPAN_DAYS_MAX - 1))
    : 1 + Math.floor(365 * random.next());
  const range = `startDate=${print(end - span)}&endDate=${print(end)}`;
  return `/rates/${isSeries ? 'time-series' : 'fluctuation'}?${symbols}&${range}`;
}

/** Chooses the code at rank r with a probability proportional to 1 / r. */
function zipf(codes: readonly string[], random: Seeded): () => string {
  let sum = 0;
  const sums = codes.map((_, rank) => (sum += 1 / (rank + 1)));
  return () => {
    const at = random.next() * sum;
    return codes[sums.findIndex((upTo) => at < upTo)]!;
  };
}

function shuffle<T>(items: T[]): T[] {
  const random = new Seeded(7);
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}

function print(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
