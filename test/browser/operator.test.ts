import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { RunReport } from '../../src/ledger/operations/feed-runs.ts';
import { EMPTY_RUN } from '../support/feeds/run-report.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { LOOKS, OPERATOR_TOKEN, openOperatorPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const HOUR = 3_600_000;

inBrowser('the operator’s page', (browser) => {
  const now = Date.now();
  let service: TestService;
  beforeAll(async () => {
    // Without a feed thread: the test writes the state of the feeds to the ledger, and no provider is contacted.
    service = await openTestService('sqlite', { settings: { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN }, now });
    const { feeds } = service.ledger;
    const run = async (feed: string, ago: number, report: Partial<RunReport>, late?: number) => {
      const started = now - ago;
      const lease = await feeds.take({ feed, holder: 'host/1 x', leaseMs: HOUR, started });
      await feeds.finish(lease!, {
        ended: started + 4_000,
        nextRun: now + 5 * HOUR,
        report: { ...EMPTY_RUN, ...report },
        ...(late !== undefined && { lateAt: now + late }),
        ...(late !== undefined && { coverage: { days: 2_500, gaps: 3, firstDay: 16_000, lastDay: 20_000 } }),
      });
    };
    for (const key of ['fred', 'eia', 'ecb']) await feeds.enable(key, now - 90 * HOUR, now + HOUR);
    await run('fred', 50 * HOUR, { taken: 2_500, missing: 12 }, HOUR);
    const reasons = [{ where: 'line 7', reason: 'the value "n/a" is no number' }];
    await run('fred', 2 * HOUR, { taken: 1, corrected: 2, refused: 1, reasons }, HOUR);
    await run('eia', 60 * HOUR, { taken: 9 }, -HOUR);
    await run('eia', 1 * HOUR, { status: 'failed', message: 'the server answered 503 three times' });
    const looksWrong = '3 of 41 prices came, where 41 were there before';
    await run('ecb', 3 * HOUR, { status: 'quarantined', message: looksWrong });
    const beat = { version: '0.1.0', phase: 'ready' };
    await service.publish('XAU', { '2026-01-05': 2_000 });
    const { prices } = await service.ledger.head();
    await service.ledger.replicas.beat({
      ...beat,
      id: service.core.replica,
      name: 'one/11',
      revision: prices,
    });
    await service.ledger.replicas.beat({
      ...beat,
      id: 'three',
      name: 'three/33',
      revision: prices,
      alarms: [
        {
          name: 'feeds.failing',
          since: now - 5 * 60_000,
          event: { type: 'feeds.failing', reason: 'the feeds’ thread has ended', process: 'three/33' },
        },
      ],
    });
    await service.ledger.replicas.beat({ ...beat, id: 'lost', name: 'two/22', revision: prices - 1 });
    await service.ledger.engine.write(async (tx) => {
      await tx`UPDATE replica SET seen = seen - 600000, started = started - 90000000 WHERE id = 'lost'`;
    });
  });
  afterAll(() => service?.close());

  const hold = async () => {
    const body = [100, 101, 5_000, 9_000].map((price, i) => ({
      symbol: 'XAG',
      price,
      at: now - 60_000 + i,
      id: `${crypto.randomUUID()}`,
    }));
    const answer = await service.get('/admin/ticks', undefined, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ source: 'desk', ticks: body }),
    });
    expect(await answer.json()).toMatchObject({ quarantined: 2 });
  };

  for (const { name, ...options } of LOOKS) {
    test(`feeds, their runs, the quarantine and replicas can be seen and decided on, ${name}`, async () => {
      await hold();
      const { page, complaints, shot, close } = await openOperatorPage(browser, service.url, '', options);
      const row = (text: string) => page.locator('tbody tr').filter({ hasText: text });

      const alarm = (text: string) => page.locator('.alarms .notice').filter({ hasText: text });
      await alarm('The feeds have stopped').getByText('three/33', { exact: true }).waitFor();
      await alarm('The feeds have stopped')
        .getByText(/\d+ min ago/)
        .waitFor();
      await alarm('A feed is late: eia').getByText('feed.late.eia', { exact: true }).waitFor();

      await row('one/11').getByText('serves this page').waitFor();
      await row('one/11').getByText('not at all').waitFor();
      await row('two/22').getByText('silent').waitFor();
      await row('two/22')
        .getByText(/1\d min ago/)
        .waitFor();

      await shot(`${name}-operator`, true);
      await page.getByRole('link', { name: 'Feeds', exact: true }).click();
      await row('FRED').getByText('ok', { exact: true }).waitFor();
      await row('Energy Information').getByText('late', { exact: true }).waitFor();
      await row('European Central Bank').getByText('failing', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Details of ecb' }).click();
      await page.getByRole('button', { name: 'Accept them ecb' }).click();
      await page.getByRole('button', { name: 'Run again and publish them ecb' }).click();
      await page.getByText('ecb runs within ten seconds').waitFor();
      expect((await service.ledger.feeds.requestedRuns()).get('ecb')).toEqual({ accept: true });
      await page.getByRole('button', { name: 'Details of eia' }).click();
      await page.getByText('the server answered 503 three times').waitFor();
      await page.getByRole('button', { name: 'Details of fred' }).click();
      await page.getByText('1 taken, 2 corrected, 1 refused').waitFor();
      await page.getByText('line 7: the value "n/a" is no number').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await shot(`${name}-operator-feeds`, true);

      const released = row('5000 is far');
      await released.getByRole('button', { name: 'Take it' }).click();
      await released.getByRole('button', { name: 'Publish it' }).click();
      await released.waitFor({ state: 'detached' });
      const dropped = row('9000 is far');
      await dropped.getByRole('button', { name: 'Drop it' }).click();
      await dropped.getByRole('button', { name: 'Drop it for good' }).click();
      await page.getByText('Empty. A price that is far').waitFor();

      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(complaints).toEqual([]);
      await close();
      await service.ledger.engine.write(async (tx) => {
        await tx`DELETE FROM tick WHERE price = 5000`;
      });
    });
  }

  test('requests, errors and latency of the last minutes are drawn', async () => {
    for (let i = 0; i < 3; i++) await service.get('/symbols', 'pit_live_wrong');
    const { page, close } = await openOperatorPage(browser, service.url, '');
    const chart = (name: RegExp) => page.getByRole('img', { name }).waitFor();
    await chart(/^Requests a minute: requests at most ([3-9]|\d\d)/);
    await chart(/^Errors a minute: refused \(4xx\) at most ([3-9]|\d\d); failed \(5xx\) at most \d/);
    await chart(/^Latency: median at most [\d.]+ ms; 99 % at most [\d.]+ m?s$/);
    await chart(/^Lag behind the ledger: longest at most [\d.]+ m?s$/);
    // The only minute with requests has no line to a neighbour.
    const points = page.getByRole('img', { name: /^Latency/ }).locator('circle');
    expect(await points.count()).toBe(2);
    expect((await points.first().boundingBox())!.width).toBeGreaterThan(4);
    await close();
  });

  test('without the ledger the page still says so, and says when it is back', async () => {
    const monitor = service.core.faults.ledger;
    const { read } = service.ledger.engine;
    const away = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    Object.defineProperty(service.ledger.engine, 'read', { value: () => Promise.reject(away) });
    for (let second = 0; second < 4; second++) {
      service.clock.time += 1_000;
      await monitor.check();
    }
    const { page, shot, close } = await openOperatorPage(browser, service.url, '');
    const alarm = page.locator('.alarms .notice').filter({ hasText: 'The ledger cannot be reached' });
    await alarm.waitFor();
    await page.getByText('Alarms of other replicas cannot be read').waitFor();
    await shot('operator-without-ledger', true);
    Object.defineProperty(service.ledger.engine, 'read', { value: read });
    await monitor.check();
    await alarm.waitFor({ state: 'detached' }); // the page refreshes itself
    await close();
  });

  test('a feed is turned on and off, and run now', async () => {
    const { page, close } = await openOperatorPage(browser, service.url, 'feeds');
    await page.getByRole('button', { name: 'Run now fred' }).click();
    await page.getByText('fred runs within ten seconds').waitFor();
    expect((await service.ledger.feeds.requestedRuns()).get('fred')).toEqual({ accept: false });
    await page.getByText('5 more that can be turned on').click();
    await page.getByRole('button', { name: 'Turn on world-bank' }).click();
    const row = page.locator('tr').filter({ hasText: 'World Bank' });
    await row.getByText('waiting').waitFor();
    expect(await service.ledger.feeds.enabled()).toContain('world-bank');
    await row.getByRole('button', { name: 'Turn off world-bank' }).click();
    await row.getByRole('button', { name: 'Turn off now world-bank' }).click();
    await page.getByText('5 more that can be turned on').waitFor();
    expect(await service.ledger.feeds.enabled()).not.toContain('world-bank');
    await close();
  });
});
