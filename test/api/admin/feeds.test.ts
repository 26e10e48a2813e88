import { expect, test } from 'bun:test';
import type { FinishedRun, RunReport } from '../../../src/ledger/operations/feed-runs.ts';
import { apiOn } from '../../support/api.ts';
import { EMPTY_RUN } from '../../support/feeds/run-report.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const HOUR = 60 * MINUTE;
const REPORT: RunReport = { ...EMPTY_RUN, taken: 3 };

onEachEngine('feeds', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const { ledger } = service;
    await service.publish('WTIOIL-SPOT', { '2024-05-14': 78 }, 'fred');
    await service.publish('XAU', { '2024-05-14': 2_350 });
    await ledger.feeds.enable('fred', NOON, NOON + HOUR);
    const lease = await ledger.feeds.take({ feed: 'fred', holder: 'me', leaseMs: HOUR, started: NOON });
    const coverage = { days: 3, gaps: 1, firstDay: 19_000, lastDay: 19_003 };
    const finish: FinishedRun = {
      ended: NOON,
      report: REPORT,
      nextRun: NOON + HOUR,
      lateAt: NOON + 2 * HOUR,
      coverage,
    };
    await ledger.feeds.finish(lease!, finish);
  });
  const moveTo = async (time: number) => {
    api.service.clock.time = time;
    await api.service.core.follow();
  };
  const staleOf = async (key?: string) => {
    const { body } = await api.ask('/rates/latest?symbols=WTIOIL-SPOT,XAU', key === undefined ? {} : { key });
    const metadata = body.metadata as Record<string, { stale: boolean }>;
    return [metadata['WTIOIL-SPOT']!.stale, metadata.XAU!.stale];
  };

  test('GET /feeds lists where prices come from and their attribution; it is free', async () => {
    await moveTo(NOON + 5_000);
    const reply = await api.ask('/feeds');
    expect(reply.body).toEqual({
      success: true,
      feeds: [
        {
          key: 'fred',
          title: 'FRED, Federal Reserve Bank of St. Louis',
          licence: 'attribution',
          attribution: expect.stringContaining('Federal Reserve Bank of St. Louis'),
          licenceUrl: 'https://fred.stlouisfed.org/legal/',
          enabled: true,
          late: false,
          schedule: '15 18 * * 1-5',
          zone: 'America/Chicago',
          symbols: 16,
          lastRun: { at: '2024-05-15T16:00:00.000Z', status: 'ok' },
          lastOkAt: '2024-05-15T16:00:00.000Z',
          nextRunAt: '2024-05-15T17:00:00.000Z',
          failing: [],
          rows: 3,
          gaps: 1,
          firstDate: '2022-01-08',
          lastDate: '2022-01-11',
        },
      ],
    });
    expect((await api.ask('/feeds', { key: '' })).status).toBe(401);
    expect((await api.ask('/usage')).body).toMatchObject({ used: 0 });
    expect((await api.ask('/v1/feeds')).status).toBe(200);
  });

  test('a late feed shows in health, metrics and /feeds, and makes only its own symbols stale', async () => {
    expect(await staleOf()).toEqual([false, false]);
    expect((await api.ask('/health')).body).toMatchObject({ lateFeeds: [] });
    await moveTo(NOON + 2 * HOUR + 3_000);
    expect(await staleOf()).toEqual([true, false]);
    expect((await api.ask('/health')).body).toMatchObject({ status: 'ready', lateFeeds: ['fred'] });
    expect((await api.ask('/feeds')).body).toMatchObject({ feeds: [{ key: 'fred', late: true }] });
    const { text } = await api.ask('/metrics');
    expect(text).toContain('openpit_feed_late{feed="fred"} 1');
    expect(text).toContain('openpit_feed_last_ok_age_seconds{feed="fred"} 7203');
    expect(text).toContain('openpit_feed_rows{feed="fred"} 3');
  });

  test('a delayed plan sees it only after its delay', async () => {
    await api.service.setPlan({ name: 'slow', delaySeconds: 600 });
    const key = await api.service.key('slow');
    await moveTo(NOON + 2 * HOUR + 3_000);
    expect(await staleOf(key)).toEqual([false, false]);
    await moveTo(NOON + 2 * HOUR + 11 * MINUTE);
    expect(await staleOf(key)).toEqual([true, false]);
  });

  test('a series that fails alone shows in health, metrics, /feeds and an alarm, and only its symbol becomes stale', async () => {
    const { ledger } = api.service;
    await moveTo(NOON + 3 * HOUR);
    const lease = await ledger.feeds.take({
      feed: 'fred',
      holder: 'me',
      leaseMs: HOUR,
      started: NOON + 3 * HOUR,
    });
    const reason = 'the provider answered 404';
    await ledger.feeds.finish(lease!, {
      ended: NOON + 3 * HOUR,
      report: { ...REPORT, status: 'partial', message: `1 of 15 series failed: DCOILBRENTEU: ${reason}` },
      nextRun: NOON + 4 * HOUR,
      lateAt: NOON + 9 * HOUR,
      failing: [{ series: 'DCOILBRENTEU', reason }],
    });
    await api.service.publish('BRENTOIL-SPOT', { '2024-05-14': 80 }, 'fred');
    await moveTo(NOON + 3 * HOUR + 3_000);
    const { body } = await api.ask('/rates/latest?symbols=WTIOIL-SPOT,BRENTOIL-SPOT');
    expect(body.metadata).toMatchObject({
      'WTIOIL-SPOT': { stale: false },
      'BRENTOIL-SPOT': { stale: true },
    });
    expect((await api.ask('/health')).body).toMatchObject({ lateFeeds: [], partialFeeds: ['fred'] });
    expect((await api.ask('/feeds')).body).toMatchObject({
      feeds: [
        {
          lastRun: { status: 'partial' },
          failing: [{ symbol: 'BRENTOIL-SPOT', since: '2024-05-15T19:00:00.000Z' }],
        },
      ],
    });
    expect((await api.ask('/metrics')).text).toContain('openpit_feed_failing_series{feed="fred"} 1');
    expect(api.service.core.alarms()).toMatchObject([
      { name: 'feed.series_late.fred', event: { series: 'DCOILBRENTEU', symbols: 'BRENTOIL-SPOT' } },
    ]);
  });
});
