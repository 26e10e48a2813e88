import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { OPERATOR_TOKEN, openPage, WIDTHS } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const DAY_MS = 86_400_000;

inBrowser('the market page', (browser) => {
  let service: TestService;
  const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    await service.publish('XAU', { [date(3)]: 2_000, [date(2)]: 2_100, [date(1)]: 2_205 }, 'lbma');
    await service.publish('XAG', { [date(3)]: 30, [date(2)]: 20, [date(1)]: 18 });
    await service.publish('CORN', { [date(2)]: 400, [date(1)]: 404 });
    await service.publish('WTIOIL-FUT', { [date(1)]: 70 });
  });
  afterAll(() => service?.close());

  for (const { name, ...options } of WIDTHS) {
    test(`it fits its window, with balanced columns and rows of one or two lines, ${name}`, async () => {
      const { page, complaints, shot, close } = await openPage(browser, service.url, options);
      await page.goto(service.url);
      await page.getByRole('button', { name: 'Watch Gold', exact: true }).click();
      await page.getByRole('heading', { name: /^Watchlist/ }).waitFor();
      await shot(`market-${name}`);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(await seriousFindings(page, '.market > .card')).toEqual([]); // the tour examines the other rows
      const [left, right] = await heights(page, '.market-column');
      if (options.viewport.width > 1000)
        expect(Math.min(left!, right!) / Math.max(left!, right!)).toBeGreaterThan(0.85);
      else expect(left! / options.viewport.height).toBeLessThan(7);
      expect(Math.max(...(await heights(page, '.quotes tbody tr')))).toBeLessThan(85);
      expect(new Set(await heights(page, '.cell-change > :first-child')).size).toBe(1);
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Find a symbol' }).fill('sliver');
      await page.getByRole('option', { name: /^Silver XAG/ }).waitFor();
      await shot(`search-${name}`);
      expect(await seriousFindings(page, 'dialog')).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test('on a phone a long group shows its first rows, and all of them on request, also after going back', async () => {
    const { page, close } = await openPage(browser, service.url, { viewport: { width: 390, height: 844 } });
    await page.goto(service.url);
    const rows = page.locator('section', { has: page.locator('#group-Metals') }).locator('tbody tr');
    const button = page.getByRole('button', { name: /^Show all \d+ of Metals$/ });
    await button.waitFor();
    expect(await rows.count()).toBe(10);
    await button.click();
    await page.getByRole('link', { name: 'Silver XAG', exact: true }).click();
    await page.getByRole('heading', { name: /^Silver/ }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Silver XAG', exact: true }).waitFor();
    expect(await rows.count()).toBeGreaterThan(30);
    await page.getByLabel('Search symbols').fill('monthly');
    expect(await page.getByRole('button', { name: /^Show all/ }).count()).toBe(0);
    await close();
  });

  test('a row says whether its price is real, how old it is, and whether its market is open', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    const row = (name: string) =>
      page.locator('tr').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('Gold XAU').getByText('lbma').waitFor();
    for (const name of ['Gold XAU', 'Silver XAG', 'Corn CORN']) {
      expect(await row(name).locator('.sparkline').getAttribute('class'), name).toBe(
        `sparkline ${name === 'Silver XAG' ? 'fall' : 'rise'}`,
      );
      expect(await row(name).locator('th').textContent(), name).toMatch(
        /\d [A-Z][a-z]{2}( \d{4})?market (open|closed)$/,
      );
    }
    await close();
  });

  test('of a large market the first rows of each group are shown, and categories in any script have ids of their own', async () => {
    const settings = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN, OPENPIT_PUBLIC_PLAN: 'unlimited' };
    const large = await openTestService('sqlite', { settings, now: Date.now() });
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
    const symbol = {
      currency: { code: 'USD', name: 'US Dollar', symbol: '$' },
      unit: { symbol: 'MT', name: 'Metric ton' },
      market: 'SPOT',
      decimals: 2,
      status: 'active',
      updateInterval: 'day',
      aliases: [],
    };
    for (let i = 0; i < 262; i++) {
      const body = JSON.stringify({ ...symbol, name: `Number ${i}`, category: i === 0 ? '能源' : '金属' });
      const response = await large.get(`/admin/symbols/N${i}`, undefined, { method: 'PUT', headers, body });
      expect(response.status).toBe(200);
    }
    await large.core.follow();
    const { page, close } = await openPage(browser, large.url);
    await page.goto(large.url);
    const rows = page.locator('section', { has: page.locator('#group-金属') }).locator('tbody tr');
    const button = page.getByRole('button', { name: 'Show all 261 of 金属' });
    await button.waitFor();
    const all = await page.locator('.quotes tbody tr').count();
    expect(all).toBeGreaterThan(240);
    expect(all).toBeLessThanOrEqual(250);
    await button.click();
    await button.waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(261);
    await page.getByLabel('Search symbols').fill('number');
    await button.waitFor();
    expect(await rows.count()).toBeLessThan(250);
    await page.getByLabel('Search symbols').fill('');
    await button.waitFor({ state: 'detached' });
    expect(await page.evaluate(`document.querySelectorAll('[id="group-能源"]').length`)).toBe(1);
    await close();
    await large.close();
  });

  test('the watchlist and collapsed groups stay in the browser, and other tabs see them at once', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.getByRole('button', { name: 'Watchlist', exact: true }).click();
    await page.getByText('You watch nothing yet.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    const other = await page.context().newPage();
    await other.goto(service.url);
    await other.getByRole('button', { name: 'Watch Gold', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Watch Gold', exact: true }).click();
    await page.getByRole('button', { name: 'Watch Corn', exact: true }).click();
    await other.getByRole('heading', { name: 'Watchlist 2' }).waitFor();
    await page.getByRole('button', { name: /^Metals \d/ }).click();
    await page.reload();
    const metals = page.getByRole('button', { name: /^Metals \d/ });
    await metals.waitFor();
    expect(await metals.getAttribute('aria-expanded')).toBe('false');
    expect(await page.getByRole('link', { name: 'Silver XAG', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Watchlist', exact: true }).click();
    expect(await page.locator('.quotes tbody tr').count()).toBe(2);
    expect(new URL(page.url()).hash).toBe('#/market?category=Watchlist');
    await page.getByRole('link', { name: 'Gold XAU', exact: true }).click();
    const star = page.getByRole('button', { name: 'Watch Gold', exact: true });
    expect(await star.getAttribute('aria-pressed')).toBe('true');
    await star.click();
    await page.goBack();
    await page.locator('.quotes tbody tr').nth(1).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await close();
  });

  test('an empty list says whether the category, the search, or both are the reason', async () => {
    const { page, close } = await openPage(browser, service.url);
    for (const [query, title] of [
      ['category=Gems', 'There is no category “Gems”.'],
      ['category=Gems&q=gold', 'There is no category “Gems”.'],
      ['category=Energy&q=silver', 'Nothing in Energy matches “silver”.'],
      ['category=Watchlist&q=silver', 'Nothing in your watchlist matches “silver”.'],
      ['category=Watchlist&q=+', 'You watch nothing yet.'],
      ['q=zzzzzz', 'Nothing matches “zzzzzz”.'],
    ]) {
      await page.goto(`${service.url}/#/market?${query}`);
      await page.getByText(title!, { exact: true }).waitFor();
    }
    await page.getByRole('button', { name: 'Show all', exact: true }).click();
    await page.getByRole('link', { name: 'Gold XAU', exact: true }).waitFor();
    await close();
  });

  test('the line of a row has every day of an import, also of one that has replaced a day', async () => {
    await service.publish('PL', { [date(9)]: 18, [date(8)]: 19 });
    await service.publish('PA', { [date(9)]: 8, [date(8)]: 9, [date(3)]: 10 });
    const { page, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    const hasPoints = async (code: string, points: number) => {
      const row = page
        .locator('tr')
        .filter({ has: page.getByRole('link', { name: new RegExp(` ${code}$`) }) });
      const line = row.locator('.sparkline-line');
      while ((await line.getAttribute('d'))?.match(/[ML]/g)?.length !== points) await page.waitForTimeout(50);
    };
    await hasPoints('PL', 2);
    await hasPoints('PA', 3);
    const week = Object.fromEntries([7, 6, 5, 4, 3].map((ago) => [date(ago), 2_000 + ago]));
    for (const code of ['PL', 'PA', 'XRH']) await service.publish(code, week);
    service.clock.time += 60_000; // the service renews its quotes
    await hasPoints('PL', 7);
    await hasPoints('PA', 7);
    await hasPoints('XRH', 5);
    await close();
  });

  test('top movers are one ranking of all symbols', async () => {
    const { page, close } = await openPage(browser, service.url);
    const codes = () => page.locator('.quotes .code').allTextContents();
    await page.goto(`${service.url}/#/market?sort=Top+movers`);
    await page.getByRole('heading', { name: /^Top movers/ }).waitFor();
    expect((await codes()).slice(0, 3)).toEqual(['XAG', 'XAU', 'CORN']);
    await page.getByRole('button', { name: 'Top losers' }).click();
    expect((await codes())[0]).toBe('XAG');
    const [left, right] = await heights(page, '.group-columns > table');
    expect(Math.abs(left! - right!)).toBeLessThan(100);
    await close();
  });

  test('the search finds by code, ticker, name and with typos, from any page, and makes formulas', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/docs`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const field = page.getByRole('combobox', { name: 'Find a symbol' });
    const selected = page.locator('[role="option"][aria-selected="true"]');
    await page.keyboard.press('Control+k');
    for (const [text, name] of [
      ['GC', 'Gold'],
      ['xag', 'Silver'],
      ['glod', 'Gold'],
      ['xau/xag', 'XAU / XAG'],
    ] as const) {
      await field.fill(text);
      await selected.getByText(name, { exact: true }).waitFor();
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'XAU / XAG' }).waitFor();
    await page.keyboard.press('/');
    await field.fill('gold');
    await selected.getByText('Gold', { exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    const second = (await selected.locator('.code').textContent())!.split(' ')[0]!;
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.hash === `#/symbol/${second}`);
    await page.keyboard.press('/');
    await field.fill('qqqq');
    await page.getByText('Nothing matches “qqqq”').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await close();
  });

  test('a formula that is defined after the page was loaded has its page', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/market`);
    await page.locator('.quotes tbody tr').first().waitFor();
    const code = 'GOLDANDSILVER';
    await service.ledger.formulas.define({
      code,
      name: 'Gold and Silver',
      expression: '{XAU} + {XAG}',
      unit: 'T.oz',
      currency: 'USD',
    });
    await service.core.follow();
    await page.goto(`${service.url}/#/symbol/${code}`);
    await page.getByRole('heading', { name: `Gold and Silver ${code}` }).waitFor();
    await page.goto(`${service.url}/#/symbol/NONE`);
    await page.getByText('There is no symbol “NONE”.').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('the search opens again when it has just been closed, and after Ctrl-K twice', async () => {
    const { page, close } = await openPage(browser, service.url);
    const field = page.getByRole('combobox', { name: 'Find a symbol' });
    await page.goto(`${service.url}/#/docs`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('/');
    await field.waitFor();
    await page.evaluate(() => {
      document.querySelector('dialog')!.close(); // its event comes after the key, and its field still has the focus
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
    });
    await field.fill('gold');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await field.fill('silver');
    await close();
  });
});

function heights(page: Page, selector: string): Promise<number[]> {
  return page.locator(selector).evaluateAll((elements) => elements.map(({ clientHeight }) => clientHeight));
}
