import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const DAY_MS = 86_400_000;

inBrowser('a link to a symbol that somebody wrote', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const days = Array.from({ length: 60 }, (_, i) => [date(60 - i), 2_000 + (i % 9)] as const);
    for (const code of ['XAU', 'XAG', 'BRENTOIL-FUT', 'WTIOIL-FUT'])
      await service.publish(code, Object.fromEntries(days));
  });
  afterAll(() => service?.close());

  const open = async (hash: string) => {
    const watched = await openPage(browser, service.url);
    await watched.page.goto(`${service.url}/${hash}`);
    return watched;
  };

  test('a formula without braces opens the page of that formula, and going back leaves it', async () => {
    const { page, shot, close } = await open('#/account');
    await page.getByRole('heading', { name: 'This month' }).waitFor();
    await page.goto(`${service.url}/#/symbol/xau/xag?range=1Y`);
    await page.getByRole('heading', { name: 'XAU / XAG', exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/symbol/%7BXAU%7D/%7BXAG%7D?range=1Y');
    expect(await page.getByRole('button', { name: '1Y' }).getAttribute('aria-pressed')).toBe('true');
    await page.locator('.legend-day').waitFor();
    await shot('link-formula');
    await page.goBack();
    await page.getByRole('heading', { name: 'This month' }).waitFor();
    await page.goto(`${service.url}/#/symbol/BRENT-WTI`);
    await page.getByRole('heading', { name: /^BRENTOIL-\w+ - WTIOIL-\w+$/ }).waitFor();
    await page.goto(`${service.url}/#/symbol/NO-SUCH`);
    await page.getByText('There is no symbol “NO-SUCH”.').waitFor();
    await close();
  });

  test('a formula of other codes for its symbols opens', async () => {
    const { page, complaints, close } = await open('#/symbol/%7BGOLD%7D%2F%7BXAG%7D');
    await page.getByRole('heading', { name: 'XAU / XAG', exact: true }).waitFor();
    await page.locator('.big').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a symbol that is compared by another of its codes can be removed, and none is compared with itself', async () => {
    const { page, complaints, close } = await open('#/symbol/XAG?compare=GOLD,XAU,SILVER,XAG');
    await page.locator('.legend.compared').first().waitFor();
    expect(await page.locator('.legend.compared').count()).toBe(1);
    await page.getByRole('button', { name: 'Remove Gold' }).click();
    await page.locator('.legend.compared').waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).not.toContain('GOLD');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a ratio can be shown in a currency and without one again', async () => {
    const { page, complaints, shot, close } = await open('#/symbol/%7BXAU%7D%2F%7BXAG%7D');
    const currency = page.getByLabel('Currency');
    await currency.waitFor();
    expect(await currency.locator('option:checked').innerText()).toBe('Own currencies');
    await shot('link-ratio');
    await currency.selectOption('USD');
    await page.waitForResponse(/rates\/history/);
    await currency.selectOption('Own currencies');
    expect(new URL(page.url()).hash).not.toContain('currency');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a unit in small letters is that of the headline, too', async () => {
    const { page, complaints, close } = await open('#/symbol/XAU?unit=kg');
    await page.getByText('US Dollar per kilogram').waitFor();
    expect(await page.getByLabel('Unit').locator('option:checked').innerText()).toBe('kilogram');
    expect(complaints).toEqual([]);
    await close();
  });

  const REFUSED = [
    ['currency=XYZ', 'Show the prices as they are published'],
    ['unit=Bbl', 'Show the prices as they are published'],
    ['from=2098-01-01&to=2099-01-01', 'Show months'],
    ['from=0001-01-01&to=2020-01-01', 'Show months'],
  ] as const;
  for (const [params, way] of REFUSED) {
    test(`${params} is explained, with a way to a chart`, async () => {
      const { page, shot, close } = await open(`#/symbol/XAU?${params}`);
      await page.getByText('The request was refused').waitFor();
      for (const label of ['Currency', 'Unit']) {
        expect(await page.getByLabel(label).locator('option:checked').count()).toBe(1);
      }
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
      expect(await seriousFindings(page, '.chart-card')).toEqual([]);
      await shot(`link-refused-${params.slice(0, 4)}`);
      await page.getByRole('button', { name: way }).click();
      await page.locator('.legend-day').waitFor();
      expect(new URL(page.url()).hash).toBe('#/symbol/XAU');
      await close();
    });
  }

  test('a formula that has no value is explained, without a way to repeat it', async () => {
    const { page, close } = await open('#/symbol/%7BXAU%7D%2F0');
    await page.getByText('it divides by zero').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await close();
  });
});
