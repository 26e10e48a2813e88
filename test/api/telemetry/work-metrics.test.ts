import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { sample } from '../../support/monitoring/metrics.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { openTestService } from '../../support/service.ts';

onEachEngine('metrics of background work', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const metrics = async () => (await api.ask('/metrics', { key: '', headers: OPERATOR_HEADERS })).text;
  const push = (path: string, body: Record<string, unknown>) =>
    api.ask(path, { key: '', method: 'POST', headers: OPERATOR_HEADERS, body: JSON.stringify(body) });
  const pushed = (page: string, kind: string) =>
    ['accepted', 'corrected', 'duplicate', 'quarantined', 'refused'].map((outcome) =>
      sample(page, `openpit_ingested_records_total{via="push",kind="${kind}",outcome="${outcome}"}`),
    );

  test('each read and each transaction is included in the ledger latency', async () => {
    const count = async (operation: string) =>
      sample(await metrics(), `openpit_ledger_seconds_count{thread="requests",operation="${operation}"}`);
    const [reads, writes] = [await count('read'), await count('write')];
    await api.service.ledger.head();
    expect(await count('read')).toBeGreaterThan(reads);
    await api.service.ledger.setMeta('test', 'x');
    expect(await count('write')).toBeGreaterThan(writes);
  });

  test('a failed call is included too', async () => {
    const count = async () =>
      sample(await metrics(), 'openpit_ledger_seconds_count{thread="requests",operation="read"}');
    const before = await count();
    expect(await api.service.ledger.engine.read`SELECT no_such_column FROM meta`.catch(() => 'failed')).toBe(
      'failed',
    );
    expect(await count()).toBeGreaterThan(before);
  });

  test('the first request of an account counts as a meter sync', async () => {
    const before = sample(await metrics(), 'openpit_meter_sync_seconds_count');
    await api.ask('/symbols', { key: await api.service.key() });
    const page = await metrics();
    expect(sample(page, 'openpit_meter_sync_seconds_count')).toBeGreaterThan(before);
    expect(sample(page, 'openpit_meter_sync_failures_total')).toBe(0);
  });

  test('the follower lag grows until the follower has caught up', async () => {
    const lag = async () => sample(await metrics(), 'openpit_follower_lag_seconds');
    await api.service.core.follow();
    expect(await lag()).toBe(0);
    api.service.clock.time += 7_000;
    expect(await lag()).toBe(7);
    await api.service.core.follow();
    expect(await lag()).toBe(0);
  });

  test('pushed ticks and bars are counted by outcome, and timed', async () => {
    const at = api.service.clock.time - 60_000;
    const tick = (price: number, id: string, n = 0) => ({ symbol: 'XAG', price, at: at + n, id });
    const before = await metrics();
    expect(pushed(before, 'ticks')).toEqual([0, 0, 0, 0, 0]);
    const first = { source: 'desk', ticks: [tick(20, 'a'), tick(20, 'a'), tick(20.1, 'b', 1)] };
    expect((await push('/admin/ticks', first)).status).toBe(200);
    const second = { source: 'desk', ticks: [tick(9_000, 'c', 2), { symbol: 'NOPE', price: 1, at }] };
    expect((await push('/admin/ticks', second)).status).toBe(200);
    const bar = (close: number) => ({
      symbol: 'XAU',
      date: '2024-05-13',
      open: close,
      high: close,
      low: close,
      close,
    });
    await push('/admin/bars', { source: 'desk', bars: [bar(2_000)] });
    await push('/admin/bars', { source: 'desk', bars: [bar(2_001)] });
    const after = await metrics();
    expect(pushed(after, 'ticks')).toEqual([2, 0, 1, 1, 1]);
    expect(pushed(after, 'bars')).toEqual([1, 1, 0, 0, 0]);
    expect(sample(after, 'openpit_push_seconds_count{kind="ticks"}')).toBe(2);
    expect(sample(after, 'openpit_push_seconds_count{kind="bars"}')).toBe(2);
  });

  test('a push that fails entirely is counted as failed', async () => {
    const { core } = api.service;
    const take = core.push;
    core.push = () => Promise.reject(new Error('the thread has ended'));
    const ticks = [{ symbol: 'XAG', price: 20, at: api.service.clock.time, id: 'z' }];
    expect((await push('/admin/ticks', { source: 'desk', ticks })).status).toBe(500);
    core.push = take;
    expect(sample(await metrics(), 'openpit_push_failures_total{kind="ticks"}')).toBe(1);
  });

  test('feed runs are counted by status, and their bars by outcome', async () => {
    const counts = { taken: 20, corrected: 2, unchanged: 5, held: 1, refused: 3 };
    api.service.core.ingestMetrics.countRun({ feed: 'ecb', status: 'partial', ...counts });
    const page = await metrics();
    expect(sample(page, 'openpit_feed_runs_total{feed="ecb",status="partial"}')).toBe(1);
    expect(sample(page, 'openpit_feed_runs_total{feed="ecb",status="failed"}')).toBe(0);
    const outcomes = ['accepted', 'corrected', 'duplicate', 'quarantined', 'refused'].map((outcome) =>
      sample(page, `openpit_ingested_records_total{via="feed",kind="bars",outcome="${outcome}"}`),
    );
    expect(outcomes).toEqual([20, 2, 5, 1, 3]);
  });
});

test('webhook posts are counted, delivered and failed', async () => {
  const answers = [204, 500, 500];
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(null, { status: answers.shift() ?? 500 }),
  });
  const service = await openTestService('sqlite', {
    settings: { OPENPIT_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}` },
  });
  for (const id of ['1', '2', '3']) await service.core.webhook!.send(id, { type: 'test' }).catch(() => {});
  const page = await (await service.get('/metrics')).text();
  expect(sample(page, 'openpit_webhook_posts_total{outcome="delivered"}')).toBe(1);
  expect(sample(page, 'openpit_webhook_posts_total{outcome="failed"}')).toBe(2);
  await service.close();
  await receiver.stop(true);
});
