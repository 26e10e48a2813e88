import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { hold, openPage } from './browser.ts';
import { recordDrawnText } from './drawn-text.ts';
import { inBrowser } from './in-browser.ts';

const DAY_MS = 86_400_000;
const DAYS = 2_000;

inBrowser('while the data of a chart loads', (browser) => {
  let service: TestService;
  const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    const days = Array.from({ length: DAYS }, (_, i) => [date(DAYS - i), 2_000 + (i % 50)] as const);
    await service.publish('XAU', Object.fromEntries(days));
  });
  afterAll(() => service?.close());

  const open = async (hash: string) => {
    const watched = await openPage(browser, service.url);
    await watched.page.goto(`${service.url}/${hash}`);
    return watched;
  };
  /** Records the requests for a path. */
  const watchRequests = (page: Page, path: string) => {
    const urls: URL[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === path) urls.push(url);
    });
    return urls;
  };

  test('nobody hears that no price was corrected before the corrections are known', async () => {
    const { page, close } = await open('#/symbol/XAU');
    const heard = page.locator('.hint[role=status]');
    await page.getByRole('button', { name: 'Show corrections' }).waitFor();
    await page.evaluate(`
      window.heard = [];
      new MutationObserver(() => heard.push(document.querySelector('.hint[role=status]')?.textContent))
        .observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true });
    `);
    await page.getByRole('button', { name: 'Show corrections' }).click();
    await heard.getByText('No price in this range was corrected.').waitFor();
    const texts = (await page.evaluate('window.heard.filter(Boolean)')) as string[];
    expect(texts[0]).toBe('Looking for corrections…');
    await close();
  });

  test('an outage is shown once, although quotes, bars and code are missing', async () => {
    const { page, close } = await open('#/symbol/XAU');
    await page.locator('.legend-day').waitFor();
    await page.route(/market|rates|health|\.js$/, (route) => route.abort());
    const asked = ['/market/quotes', '/rates/history'].map((path) => watchRequests(page, path));
    await page.getByRole('button', { name: '5Y', exact: true }).click();
    await eventually(async () => {
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      return asked.every((requests) => requests.length > 4); // after three retries, a load has failed
    });
    const module = page.waitForEvent('requestfailed', (request) => request.url().endsWith('.js'));
    await page.getByRole('button', { name: 'Show statistics' }).click();
    await module;
    const outage = page.getByText('No connection to the service');
    await outage.first().waitFor();
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect(await outage.count()).toBe(1);
    await page.unroute(/market|rates|health|\.js$/);
    await eventually(async () => (await outage.count()) === 0);
    await close();
  });

  test('a used-up quota is shown once, although quotes and bars are missing', async () => {
    const own = await openTestService('sqlite', { now: Date.now() });
    await own.publish('XAU', { [date(1_500)]: 2_000, [date(1)]: 2_001 });
    await own.setPlan({ name: 'tiny', quota: 2 });
    const key = await own.key('tiny');
    const { page, close } = await openPage(browser, own.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(`${own.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    const usedUp = page.getByText('The quota of this key is used up');
    await page.getByRole('button', { name: '5Y', exact: true }).click();
    await usedUp.waitFor();
    own.clock.time += 2 * 3_600_000; // the quotes are free for an hour
    await own.publish('XAU', { [date(1)]: 2_002 });
    const market = page.waitForResponse(/\/market\?/);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    expect((await market).status()).toBe(429);
    await page.locator('main > .notice').waitFor();
    expect(await usedUp.count()).toBe(1);
    await close();
    await own.close();
  });

  test('a plan that lost long history while a chart was open is followed', async () => {
    await service.setPlan({ name: 'changing', maxSpanDays: 365 });
    const key = await service.key('changing');
    const { page, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(`${service.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    await service.setPlan({ name: 'changing', maxSpanDays: 365, history: false, delaySeconds: 3_600 });
    service.clock.time += 10_000;
    const series = page.waitForResponse(/\/rates\/time-series/);
    await page.getByRole('button', { name: '5Y', exact: true }).click();
    expect((await series).status()).toBe(200);
    await page.getByText('1 h behind', { exact: true }).waitFor();
    await page.getByText('This key may not do that').waitFor({ state: 'detached' });
    await close();
  });

  test('a key that is revoked while a chart or the market is open is asked for', async () => {
    for (const hash of ['#/symbol/XAU', '#/market']) {
      const key = await service.key();
      const { page, close } = await openPage(browser, service.url);
      await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
      await page.goto(`${service.url}/${hash}`);
      await page.getByText('2,049.00').first().waitFor();
      const { keys } = (await (await service.get('/account/keys', key)).json()) as { keys: { id: string }[] };
      const headers = { 'content-type': 'application/json' };
      const other = await service.get('/account/keys', key, { method: 'POST', headers, body: '{}' });
      expect(other.ok).toBe(true); // the last key of an account cannot be revoked
      const revoked = await service.get(`/account/keys/${keys[0]!.id}`, key, { method: 'DELETE' });
      expect(revoked.status).toBe(200);
      await service.core.follow();
      await page.getByRole('heading', { name: 'Your API key' }).waitFor();
      await close();
    }
  });

  test('a symbol opens while the quotes of another one do not arrive', async () => {
    const { page, complaints, close } = await open('#/symbol/XAU');
    await page.locator('.legend-day').waitFor();
    await hold(page, /\/market\/quotes/);
    await page.waitForRequest(/\/market\/quotes/);
    await page.evaluate(`location.hash = '#/symbol/XAG'`);
    await page.getByRole('heading', { name: 'Silver XAG' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a symbol opens after one that does not exist', async () => {
    const { page, close } = await open('#/symbol/NOPE');
    await page.getByText('There is no symbol “NOPE”').waitFor();
    const market = await hold(page, /\/market\?/);
    await page.evaluate(`location.hash = '#/symbol/XAU'`);
    await eventually(async () => market.count > 0);
    expect(await page.getByText('There is no symbol').count()).toBe(0);
    market.release();
    await page.getByRole('heading', { name: 'Gold XAU' }).waitFor();
    await close();
  });

  test('a symbol opens although one that it is compared with does not exist', async () => {
    const { page, close } = await open('#/symbol/XAU?compare=NOPE,XAG');
    await page.getByRole('heading', { name: 'Gold XAU' }).waitFor();
    await page.getByRole('button', { name: 'Remove Silver' }).waitFor();
    await page.evaluate(`location.hash = '#/symbol/NOPE?compare=XAG'`);
    await page.getByText('There is no symbol “NOPE”').waitFor();
    await close();
  });

  test('a new range asks for its statistics and corrections once, when its prices are there', async () => {
    const { page, close } = await open('#/symbol/XAU?range=1M&statistics=1&corrections=1');
    await page.getByText('Volatility').waitFor();
    await page.getByText('No price in this range was corrected').waitFor();
    const isLong = (url: URL) => url.searchParams.get('startDate')! < date(1_800);
    const statistics = watchRequests(page, '/rates/statistics');
    const corrections = watchRequests(page, '/rates/revisions');
    await page.getByRole('button', { name: '5Y' }).click();
    await eventually(async () => statistics.some(isLong) && corrections.some(isLong));
    await page.getByText('Volatility').waitFor();
    await page.getByText('No price in this range was corrected').waitFor();
    expect(statistics.map(isLong)).toEqual([true]);
    expect(corrections.map(isLong)).toEqual([true]);
    await close();
  });

  test('a download before a new range is loaded has the days that are shown', async () => {
    const { page, close } = await open('#/symbol/XAU?range=1M');
    await page.locator('.legend-day').waitFor();
    const history = await hold(page, /\/rates\/history/);
    await page.getByRole('button', { name: '5Y' }).click();
    await eventually(async () => history.count > 0);
    await page.getByText('Download', { exact: true }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(await Bun.file((await file.path())!).text()).not.toContain(date(100));
    history.release();
    await close();
  });

  test('a second click on a download does not pay for it again', async () => {
    const { page, close } = await open('#/symbol/XAU');
    await page.locator('.legend-day').waitFor();
    const files = await hold(page, /format=parquet/);
    await page.getByText('Download', { exact: true }).click();
    const button = page.getByRole('button', { name: 'Parquet' });
    const downloaded = page.waitForEvent('download');
    await button.dblclick();
    await eventually(async () => files.count > 0);
    files.release();
    await downloaded;
    expect(files.count).toBe(1);
    await close();
  });

  test('a download that fails to load its code says so, and works when the service is back', async () => {
    const { page, close } = await open('#/symbol/XAU');
    await page.locator('.legend-day').waitFor();
    await page.locator('.chart canvas').first().waitFor();
    await page.route(/\.js$|\/health/, (route) => route.abort());
    const menu = page.getByText('Download', { exact: true });
    await menu.click();
    await page.getByRole('button', { name: 'CSV' }).click();
    await page.getByText('No connection to the service').waitFor();
    await page.getByText('This page loads again as soon as the service responds.').waitFor();
    await page.unrouteAll();
    await page.getByText('No connection to the service').waitFor({ state: 'detached' });
    await page.locator('.legend-day').waitFor();
    await menu.click();
    await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
    await close();
  });

  test('a chart that is clicked before it is drawn zooms with the wheel', async () => {
    const { page, close } = await openPage(browser, service.url);
    const drawn = await recordDrawnText(page);
    const chart = page.locator('.chart-box');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\.js$/, async (route) => {
      if ((await chart.count()) > 0) await released;
      await route.continue();
    });
    await page.goto(`${service.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    expect(await page.locator('.chart canvas').count()).toBe(0);
    await chart.click({ position: { x: 300, y: 100 } });
    release();
    await eventually(async () => (await drawn.all()).length > 0);
    const before = (await drawn.all()).length;
    await eventually(async () => {
      await page.mouse.wheel(0, -200);
      return (await drawn.all()).length > before;
    });
    await close();
  });
});
