import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage, WIDTHS } from './browser.ts';
import { recordDrawnText } from './drawn-text.ts';
import { inBrowser } from './in-browser.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const HOURS = 16;

const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const startOf = (ms: number, minutes: number) => ms - (ms % (minutes * MINUTE_MS));

inBrowser('minutes and hours', (browser) => {
  let service: TestService;
  /** The last Wednesday at 18:00 UTC: every market has traded since the morning. */
  const now = (() => {
    const at = Date.now() - 18 * 60 * MINUTE_MS;
    const daysAgo = (new Date(at).getUTCDay() + 4) % 7;
    return startOf(at, 1_440) - daysAgo * DAY_MS + 18 * 60 * MINUTE_MS;
  })();
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    const yesterday = new Date(now - DAY_MS).toISOString().slice(0, 10);
    for (const code of ['XAU', 'XAG', 'WTIOIL-SPOT']) await service.publish(code, { [yesterday]: 1_000 });
    await service.publish('AL-AVG', { '2024-01-01': 100, '2024-02-01': 101 });
    for (let minutes = HOURS * 60; minutes >= 0; minutes -= 2) {
      const price = 1_000 + Math.round(20 * Math.sin(minutes / 90) * 100) / 100;
      await service.tick('XAU', price, now - minutes * MINUTE_MS);
      await service.tick('XAG', price / 50, now - minutes * MINUTE_MS);
    }
    await service.core.follow();
  });
  afterAll(() => service?.close());

  const usedBy = async (key: string) =>
    ((await (await service.get('/usage', key)).json()) as { used: number }).used;

  for (const { name, ...options } of WIDTHS) {
    test(`one day and five days are drawn with their times, ${name}`, async () => {
      const { page, complaints, shot, close } = await openPage(browser, service.url, options);
      const drawn = await recordDrawnText(page);
      await page.goto(`${service.url}/#/symbol/XAU`);
      await page.locator('.legend-day').waitFor();
      await page.getByRole('button', { name: '1D', exact: true }).click();
      await page.locator('.legend-interval').getByText('5 minutes').waitFor();
      expect(new URL(page.url()).hash).toBe('#/symbol/XAU?range=1D');
      const bar = instant(startOf(now, 5)).slice(11, 16);
      await page.locator('.legend-day').getByText(`${bar} UTC`).waitFor();
      await page.locator('.chart[aria-busy="false"]').waitFor();
      await eventually(async () => (await drawn.all()).some((text) => /^\d\d:\d\d$/.test(text)));
      await shot(`${name}-intraday-1D`);
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      await page.getByRole('button', { name: '5D', exact: true }).click();
      await page.locator('.legend-interval').getByText('15 minutes').waitFor();
      await page.getByRole('button', { name: 'Area', exact: true }).click();
      await shot(`${name}-intraday-5D`);
      await page.getByRole('button', { name: '1M', exact: true }).click();
      await page.locator('.legend-interval').getByText('daily').waitFor();
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test('a link to one day with a comparison shows the same view, for two units at most', async () => {
    const key = await service.key('pro');
    const { page, complaints, shot, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(`${service.url}/#/symbol/XAU?range=1D&interval=15min&compare=XAG,{XAU}/{XAG}&type=line`);
    await page.locator('.legend.compared').nth(1).getByText('%').waitFor();
    await page.locator('.legend-interval').getByText('15 minutes').waitFor();
    await page.locator('.chart[aria-busy="false"]').waitFor();
    expect(await page.getByLabel('Interval').inputValue()).toBe('15min');
    expect(await usedBy(key)).toBeLessThanOrEqual(2);
    await shot('intraday-compare');
    await page.getByText('Download', { exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toContain('15min.csv');
    const lines = (await Bun.file((await download.path())!).text()).trim().split('\n');
    const gold = lines.filter((line) => line.startsWith('XAU,')).map((line) => line.split(',')[1]);
    expect(gold.at(-1)).toBe(instant(startOf(now, 15)));
    expect(gold.length).toBeGreaterThan(60);
    expect(complaints).toEqual([]);
    await close();
  });

  test('newer prices move the last bar, or begin a new one, without another request', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.clock.setFixedTime(now); // later, they would be changes of a closed day, which is loaded again
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/rates/')) requests.push(request.url());
    });
    await page.goto(`${service.url}/#/symbol/XAU?range=1D`);
    await page.locator('.legend-day').waitFor();
    const later = now + 10 * MINUTE_MS;
    await service.tick('XAU', 1_111.5, later);
    service.clock.time += 5_000; // the service renews its quotes
    await service.core.follow();
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.locator('.legend').getByText('1,111.50').first().waitFor();
    const bar = instant(later).slice(11, 16);
    await page.locator('.legend-day').getByText(`${bar} UTC`).waitFor();
    await service.tick('XAU', 1_112.5, later + 5 * MINUTE_MS);
    service.clock.time += 5_000;
    await service.core.follow();
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.locator('.legend').getByText('1,112.50').first().waitFor();
    await page.getByText('Download', { exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    const lines = (await Bun.file((await download.path())!).text()).trim().split('\n').slice(-2);
    expect(lines.map((line) => line.split(',')[5])).toEqual(['1111.5', '1112.5']);
    expect(requests).toHaveLength(1);
    await close();
  });

  test('corrections are asked for by day, also when a range of days follows one of minutes', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/symbol/XAU?range=1D&corrections=1`);
    await page.locator('.legend-day').getByText('UTC').waitFor();
    await page.getByRole('button', { name: '6M', exact: true }).click();
    await page.getByText('No price in this range was corrected.').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a plan or a symbol without minutes says so, without spending a unit on them', async () => {
    await service.setPlan({ name: 'short', history: false });
    const key = await service.key('short');
    const { page, complaints, shot, close } = await openPage(browser, service.url);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/rates/')) asked.push(request.url());
    });
    await page.goto(`${service.url}/#/symbol/AL-AVG?range=1D`);
    await page.getByText('There are no minutes and hours to show.').waitFor();
    await page.getByText('published weekly or monthly').waitFor();
    expect(asked).toEqual([]);
    await shot('intraday-monthly');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show months' }).click();
    await page.locator('.chart canvas').first().waitFor();
    await page.goto(`${service.url}/#/symbol/WTIOIL-SPOT?range=5D`);
    await page.getByText('This symbol has only daily prices').waitFor();
    await page.evaluate(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(`${service.url}/#/symbol/XAU?range=1D`);
    await page.reload();
    await page.getByText('The plan “short” does not include long history').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
