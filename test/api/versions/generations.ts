import { expect } from 'bun:test';
import type { Api, Json, Reply } from '../../support/api.ts';
import type { TestService } from '../../support/service.ts';

/** What the tests of every version ask about. 2024-05-12 is a Sunday. */
export async function publishPrices({ service }: { service: TestService }): Promise<void> {
  await service.publish('XAU', {
    '2023-07-03': 1920,
    '2024-05-10': [2346, 2360, 2340, 2350],
    '2024-05-14': 2358.2,
  });
  await service.publish('XAG', { '2024-05-10': 28.1, '2024-05-14': 28.5 });
}

export const SUNDAY = '/rates/historical?date=2024-05-12&symbols=XAU';

/** A time series of this many days. */
export function spanOf(days: number): string {
  const end = Date.UTC(2024, 4, 14);
  const start = new Date(end - days * 86_400_000).toISOString().slice(0, 10);
  return `/rates/time-series?symbols=XAU&startDate=${start}&endDate=2024-05-14`;
}

/** A request for each error that a client can cause, with its status and codes. */
export const ERRORS: readonly [path: string, status: number, code: string, familyCode: string][] = [
  ['/rates/latest', 400, 'missing_parameter', 'VALIDATION_ERROR'],
  ['/rates/historical?symbols=XAU&date=2023-02-29', 400, 'invalid_date', 'VALIDATION_ERROR'],
  ['/rates/latest?symbols=XAU&apiKey=wrong', 401, 'invalid_key', 'API_KEY_NOT_FOUND'],
  ['/rates/latest?symbols=NOPE', 404, 'unknown_symbol', 'SYMBOL_NOT_FOUND'],
  ['/rates/latest?symbols=ZINC', 404, 'no_data', 'DATA_NOT_FOUND'],
  ['/nowhere', 404, 'not_found', 'DATA_NOT_FOUND'],
  ['/rates/latest?symbols=XAU&quote=XYZ', 404, 'unknown_currency', 'QUOTE_NOT_FOUND'],
];

/** Sends it without a key in the header if the path has one. */
export function askFor(api: Api, path: string): Promise<Reply> {
  return api.ask(path, path.includes('apiKey=') ? { key: '' } : {});
}

/** Expects an error of the later versions: the envelope, then `error`, `path` and `timestamp`. */
export function expectDetailedError(
  { service }: Api,
  reply: Reply,
  expected: { status: number; code: string; error: string; path: string; members?: Json },
): void {
  const { status, code, error, path, members } = expected;
  expect(reply.text).toBe(
    JSON.stringify({
      success: false,
      message: reply.body.message,
      statusCode: String(status),
      code,
      ...members,
      error,
      path,
      timestamp: Math.floor(service.clock.now() / 1000),
    }),
  );
  expect(reply.status).toBe(status);
  expect(String(reply.body.message).length).toBeGreaterThan(20);
}

/** The errors that need a key of a plan which is used up, too fast, or not admitted. */
export async function expectLimitErrors(api: Api, mount: string): Promise<void> {
  const { service } = api;
  await service.setPlan({ name: 'tiny', quota: 1 });
  await service.setPlan({ name: 'slow', burstPerSecond: 1 });
  const latest = `${mount}/rates/latest?symbols=XAU`;
  const tiny = await service.key('tiny');
  await api.ask(latest, { key: tiny });
  for (let i = 0; i < 3; i++) {
    const reply = await api.ask(latest, { key: tiny }); // also while the answer is cached
    const members = { resetAt: (await service.resetAt()) / 1000 };
    expectDetailedError(api, reply, {
      status: 429,
      code: 'quota_exhausted',
      error: 'LIMIT_REACHED',
      path: `${mount}/rates/latest`,
      members,
    });
  }
  const slow = await service.key('slow');
  await api.ask(latest, { key: slow });
  expectDetailedError(api, await api.ask(latest, { key: slow }), {
    status: 429,
    code: 'rate_limited',
    error: 'TOO_MANY_REQUESTS',
    path: `${mount}/rates/latest`,
  });
}
