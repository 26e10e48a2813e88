import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage, WIDTHS } from './browser.ts';
import { recordDrawnText } from './drawn-text.ts';
import { inBrowser } from './in-browser.ts';

const DAY_MS = 86_400_000;

inBrowser('a symbol’s page', (browser) => {
  let service: TestService;
  const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  beforeAll(async () => {
    // Today: the page asks for the last days by its own clock.
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    const days = Array.from({ length: 150 }, (_, i) => [date(150 - i), 70 + (i % 9)] as const);
    await service.publish('WTIOIL-SPOT', Object.fromEntries(days), 'fred');
    await service.publish('WTIOIL-SPOT', { [date(120)]: 91.5, [date(20)]: 92.5 }, 'fred');
    await service.ledger.feeds.enable('fred', Date.now(), Date.now() + DAY_MS);
    service.clock.time += 3_000;
    await service.core.follow();
  });
  afterAll(() => service?.close());

  for (const { name, ...options } of WIDTHS) {
    test(`corrections of the whole range, licence and units are there, ${name}`, async () => {
      const { page, complaints, shot, close } = await openPage(browser, service.url, options);
      await page.goto(`${service.url}/#/symbol/WTIOIL-SPOT`);
      await page.getByRole('button', { name: 'Show corrections' }).click();
      await page.getByText('Corrections in this range').waitFor();
      const corrected = page.locator('section').filter({ hasText: 'Corrections in this range' });
      await corrected.getByText('91.50').waitFor();
      await corrected.getByText('92.50').waitFor();
      await page.getByText('FRED, Federal Reserve Bank of St. Louis').first().waitFor();
      await page.getByRole('link', { name: 'may be redistributed with attribution' }).waitFor();
      await page.getByText('The same price per').waitFor();
      await page.getByText('US gallon').last().waitFor();
      await shot(`${name}-symbol-corrected`, true);
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: '1M', exact: true }).click();
      await corrected.getByText('91.50').waitFor({ state: 'detached' });
      await corrected.getByText('92.50').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test('on paper it is light, and has no controls', async () => {
    const { page, close } = await openPage(browser, service.url, { colorScheme: 'dark' });
    await page.goto(`${service.url}/#/symbol/WTIOIL-SPOT`);
    await page.locator('.legend-day').waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.locator('.top').waitFor({ state: 'hidden' });
    expect(await page.getByRole('button').count()).toBe(0);
    const surface = `getComputedStyle(document.documentElement).getPropertyValue('--surface')`;
    expect(await page.evaluate(surface)).toMatch(/^#f{3,6}$/); // the bundler shortens it
    await close();
  });

  test('another unit is asked for, drawn, downloaded and shown in the request', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/symbol/WTIOIL-SPOT`);
    await page.locator('.legend-day').waitFor();
    await page.locator('.big-rate').getByText('+1.00 (+1.35 %)').waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByLabel('Interval').selectOption('week');
    await page.getByText('interval=week').waitFor();
    await page.locator('.big-rate').getByText('+1.00 (+1.35 %)').waitFor(); // of the day, not of the week
    await page.getByLabel('Interval').selectOption('Auto (daily)');
    await page.getByRole('button', { name: '6M', exact: true }).click();
    const asked = page.waitForRequest(/rates\/history.*unit=Gal/);
    await page.getByLabel('Unit').selectOption('US gallon');
    await asked;
    const gallons = ((70 + (149 % 9)) / 42).toFixed(5);
    await page.locator('.big').getByText(gallons).waitFor();
    await page.locator('.legend').getByText(gallons).first().waitFor();
    await page.getByText('Download', { exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    const lines = (await Bun.file((await download.path())!).text()).trim().split('\n');
    expect(lines.at(-1)).toContain(',Gal,USD,fred');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a symbol that gets its first price shows it in the market without a reload, and looking for it is free', async () => {
    const key = await service.key();
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(service.url);
    await page.getByText('1 symbol with prices').waitFor();
    await page.locator('.live.on').waitFor();
    await page.getByRole('link', { name: 'Crude Oil WTI Spot WTIOIL-SPOT' }).scrollIntoViewIfNeeded();
    await page.locator('.sparkline').first().waitFor({ state: 'attached' });
    const used = async () => ((await (await service.get('/usage', key)).json()) as { used: number }).used;
    const comeBack = async () => {
      const listed = page.waitForResponse((response) => response.url().includes('/market/quotes'));
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await listed;
    };
    const before = await used();
    await comeBack();
    await comeBack();
    expect(await used()).toBe(before);
    await service.publish('XAU', { [date(1)]: 2_345.5 });
    service.clock.time += 5_000;
    await comeBack();
    const gold = page
      .locator('tr')
      .filter({ has: page.getByRole('link', { name: 'Gold XAU', exact: true }) });
    await gold.scrollIntoViewIfNeeded();
    await gold.getByText('2,345.50').waitFor();
    await page.getByText('2 symbols with prices').waitFor();
    expect(await used()).toBe(before);
    expect(complaints).toEqual([]);
    await close();
  });

  test('an open chart shows past days that are corrected, for a unit each time, and less and less often', async () => {
    const code = 'XAG';
    const days = Array.from({ length: 60 }, (_, i) => [date(60 - i), 30] as const);
    await service.publish(code, Object.fromEntries(days));
    const key = await service.key('pro');
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    const asked: string[] = [];
    page.on('response', (response) => {
      if (response.url().includes('/rates/history')) asked.push(response.request().method());
    });
    const checks = () => asked.filter((method) => method === 'HEAD').length;
    const comeBack = async () => {
      const before = checks();
      service.clock.time += 5_000;
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await eventually(async () => checks() > before);
    };
    const used = async () => ((await (await service.get('/usage', key)).json()) as { used: number }).used;
    const highest = page.locator('.ranges > div').filter({ hasText: 'Shown in the chart' });
    await page.goto(`${service.url}/#/symbol/${code}`);
    await highest.getByText('30.00').first().waitFor();
    const before = await used();
    await comeBack();
    await comeBack();
    expect(await used()).toBe(before);
    await service.publish(code, { [date(40)]: 41.5 });
    await comeBack();
    await highest.getByText('41.50').waitFor();
    expect(await used()).toBe(before + 1);
    await service.publish(code, { [date(39)]: 42.5 });
    await comeBack();
    await comeBack();
    expect(asked.filter((method) => method === 'GET')).toHaveLength(2);
    const later = Date.now();
    await page.clock.setFixedTime(later + 61_000);
    await comeBack();
    await highest.getByText('42.50').waitFor();
    await service.publish(code, { [date(38)]: 43.5 });
    await page.clock.setFixedTime(later + 150_000);
    await comeBack();
    expect(await used()).toBe(before + 2);
    await page.clock.setFixedTime(later + 182_000); // the second wait is twice as long
    await comeBack();
    await highest.getByText('43.50').waitFor();
    expect(await used()).toBe(before + 3);
    expect(complaints).toEqual([]);
    await close();
  });

  test('older bars that a chart has loaded follow corrections, and are loaded again only then', async () => {
    const code = 'PL';
    const days = Array.from({ length: 2_700 }, (_, i) => [date(2_700 - i), 30] as const);
    await service.publish(code, Object.fromEntries(days));
    const key = await service.key('pro');
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    const drawn = await recordDrawnText(page);
    const asked = { GET: [] as URL[], HEAD: [] as URL[] };
    page.on('response', (response) => {
      const method = response.request().method();
      if (response.url().includes('/rates/history') && method in asked)
        asked[method as 'GET' | 'HEAD'].push(new URL(response.url()));
    });
    const used = async () => ((await (await service.get('/usage', key)).json()) as { used: number }).used;
    await page.goto(`${service.url}/#/symbol/${code}`);
    await page.locator('.chart canvas').first().waitFor();
    await page.locator('.chart-box').focus();
    while (asked.GET.length < 3) await page.keyboard.press('ArrowLeft'); // the older bars take two pages
    await page.getByText('Loading older prices…').waitFor({ state: 'detached' });
    const secondPage = asked.GET[2]!.searchParams;
    const checks = () =>
      asked.HEAD.filter(
        ({ searchParams }) => searchParams.get('startDate') === secondPage.get('startDate'),
      ).filter(({ searchParams }) => searchParams.has('cursor')).length;
    const comeBack = async () => {
      const before = checks();
      service.clock.time += 5_000;
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await eventually(async () => checks() > before);
    };
    const before = await used();
    await comeBack();
    await comeBack();
    expect(await used()).toBe(before);
    await service.publish(code, { [date(500)]: 444 });
    await comeBack();
    await eventually(async () => asked.GET.length === 5);
    await eventually(async () => {
      await page.keyboard.press('-');
      return (await drawn.all()).some((text) => /^4\d\d\.00$/.test(text));
    });
    expect(asked.GET.slice(3).map(String)).toEqual(asked.GET.slice(1, 3).map(String));
    expect(await used()).toBe(before + 2);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a chart that took many requests, for a plan without long history, follows corrections of all its days', async () => {
    const code = 'ZINC';
    const days = Array.from({ length: 200 }, (_, i) => [date(200 - i), 30] as const);
    await service.publish(code, Object.fromEntries(days));
    await service.setPlan({ name: 'monthly', history: false });
    const key = await service.key('monthly');
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    const checked: string[] = [];
    page.on('response', (response) => {
      if (response.request().method() === 'HEAD') checked.push(response.url());
    });
    const comeBack = async () => {
      const before = checked.length;
      service.clock.time += 5_000;
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await eventually(async () => checked.slice(before).some((url) => url.includes(`endDate=${date(2)}`)));
    };
    await page.goto(`${service.url}/#/symbol/${code}?range=6M`);
    const shown = page.locator('.ranges > div').filter({ hasText: 'Shown in the chart' });
    await shown.getByText('30.00').first().waitFor();
    await comeBack();
    await service.publish(code, { [date(100)]: 41.5 });
    await comeBack();
    await shown.getByText('41.50').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a chart of simulated prices is replaced when real ones arrive', async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited', OPENPIT_DEMO: 'true' };
    const demo = await openTestService('sqlite', { settings, now: Date.now() });
    const days = Array.from({ length: 60 }, (_, i) => [date(60 - i), 30] as const);
    await demo.publish('XAG', Object.fromEntries(days), 'simulated');
    const { page, complaints, close } = await openPage(browser, demo.url);
    await page.goto(`${demo.url}/#/symbol/XAG`);
    const shown = page.locator('.ranges > div').filter({ hasText: 'Shown in the chart' });
    await shown.getByText('30.00').first().waitFor();
    await demo.publish('XAG', { [date(5)]: 41, [date(1)]: 42 }, 'lbma');
    demo.clock.time += 5_000;
    const comeBack = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await comeBack();
    await page.locator('.big').getByText('42.00').waitFor();
    await comeBack();
    await shown.getByText('42.00').waitFor();
    expect(await shown.textContent()).toBe('Shown in the chart41.0042.00');
    expect(await page.locator('[data-label="Source"]').textContent()).toBe('lbma');
    expect(complaints).toEqual([]);
    await close();
    await demo.close();
  });

  test('prices of 17 digits fit a phone', async () => {
    await service.publish('XAU', { [date(2)]: 2009.9970979708066, [date(1)]: 1998.8032498739512 });
    const { page, close } = await openPage(browser, service.url, { viewport: { width: 320, height: 844 } });
    await page.goto(`${service.url}/#/symbol/XAU`);
    await page.getByText('Shown in the chart').waitFor();
    await page.locator('.ranges dd').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await close();
  });
});
