import { expect, test } from 'bun:test';
import { OPERATOR_SCHEMAS } from '../../../src/api/openapi/schemas/operator.ts';
import { PROVIDERS } from '../../../src/feeds/providers/index.ts';
import type { FinishedRun, RunReport } from '../../../src/ledger/operations/feed-runs.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { EMPTY_RUN } from '../../support/feeds/run-report.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const HOUR = 60 * MINUTE;

const REPORT: RunReport = {
  ...EMPTY_RUN,
  taken: 3,
  corrected: 1,
  missing: 2,
  refused: 1,
  reasons: [{ where: 'line 7', reason: 'no number' }],
};

onEachEngine('/admin/feeds', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const headers = OPERATOR_HEADERS;
  const feedOf = async (key: string) => {
    const { text } = await api.ask('/admin/feeds', { key: '', headers });
    return OPERATOR_SCHEMAS.AdminFeeds.parse(JSON.parse(text)).feeds.find((feed) => feed.key === key)!;
  };
  const turn = (key: string, enabled: unknown) =>
    api.ask(`/admin/feeds/${key}`, { method: 'PATCH', key: '', headers, body: JSON.stringify({ enabled }) });
  const run = async (feed: string, finish: Partial<FinishedRun>, report: Partial<RunReport> = {}) => {
    const { feeds } = api.service.ledger;
    const lease = await feeds.take({ feed, holder: 'host/7 x', leaseMs: HOUR, started: NOON });
    const running = await feedOf(feed);
    await feeds.finish(lease!, {
      ended: NOON + 1_000,
      nextRun: NOON + HOUR,
      report: { ...REPORT, ...report },
      ...finish,
    });
    return running;
  };

  test('every feed is listed, off by default, with its licence and its missing settings', async () => {
    const { feeds } = (await api.ask('/admin/feeds', { key: '', headers })).body as { feeds: Json[] };
    expect(feeds.map(({ key, health }) => `${key} ${health}`)).toContain('world-bank off');
    expect(feeds).toHaveLength(PROVIDERS.length);
    expect(await feedOf('eia')).toMatchObject({
      enabled: false,
      licence: 'yes',
      lacking: ['OPENPIT_EIA_API_KEY'],
      symbols: [],
      runs: [],
      nextRunAt: null,
    });
  });

  test('a feed that is turned on is due at once, and provides the symbols that no earlier feed provides', async () => {
    expect((await turn('fred', true)).body).toEqual({ success: true, key: 'fred', enabled: true });
    const alone = await feedOf('fred');
    expect(alone).toMatchObject({ health: 'waiting', nextRunAt: new Date(NOON).toISOString() });
    expect(alone.symbols).toContain('WTIOIL-SPOT');
    await turn('eia', true);
    expect((await feedOf('fred')).symbols).not.toContain('WTIOIL-SPOT');
    expect((await feedOf('eia')).symbols).toContain('WTIOIL-SPOT');
    await turn('eia', false);
    expect(await feedOf('eia')).toMatchObject({ enabled: false, health: 'off', symbols: [] });
  });

  test('its runs are listed with their reasons, its current process and its health', async () => {
    await turn('imf', true);
    const running = await run('imf', { lateAt: NOON + 2 * HOUR });
    expect(running).toMatchObject({ runBy: 'host/7 x', runs: [{ number: 1, status: 'running' }] });
    const good = await feedOf('imf');
    expect(good).toMatchObject({ health: 'ok', runBy: null, lastOkAt: new Date(NOON + 1_000).toISOString() });
    expect(good.runs).toMatchObject([
      {
        number: 1,
        status: 'ok',
        taken: 3,
        corrected: 1,
        missing: 2,
        refused: 1,
        reasons: REPORT.reasons,
        message: null,
      },
    ]);
    await run('imf', {}, { status: 'failed', message: 'the server answered 500' });
    expect(await feedOf('imf')).toMatchObject({ health: 'failing', failures: 1, late: false });
    expect((await feedOf('imf')).runs.map(({ number, message }) => [number, message])).toEqual([
      [2, 'the server answered 500'],
      [1, null],
    ]);
    api.service.clock.time = NOON + 3 * HOUR;
    expect(await feedOf('imf')).toMatchObject({ health: 'late', late: true });
    api.service.clock.time = NOON;
  });

  test('only the last ten runs are listed', async () => {
    for (let i = 0; i < 12; i++) await run('stooq', { lateAt: NOON + HOUR });
    const { runs } = await feedOf('stooq');
    expect(runs.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  });

  test('an unknown feed, an invalid body and a request without the token are refused', async () => {
    expectRefusal(await turn('nope', true), 404, 'not_there');
    expectRefusal(await turn('fred', 'yes'), 400, 'invalid_body');
    expectRefusal(await api.ask('/admin/feeds'), 401, 'invalid_admin_token');
  });
});
