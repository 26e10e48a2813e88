import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { demoFolder } from '../support/database/demo-folder.ts';
import { Program } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const TOKEN = 'the-token-of-the-operator';
const DAY_MS = 86_400_000;

inBrowser('finding one’s way', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited', OPENPIT_ADMIN_TOKEN: TOKEN };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
    const days = Array.from({ length: 400 }, (_, i) => [date(400 - i), 2_000 + (i % 9)] as const);
    await service.publish('XAU', Object.fromEntries(days));
  });
  afterAll(() => service?.close());

  const scrolled = (page: Page) => page.evaluate('Math.round(scrollY)') as Promise<number>;

  for (const width of [1440, 1024, 390]) {
    test(`going back from a symbol keeps search, category and scroll position, at ${width} px`, async () => {
      const { page, complaints, close } = await openPage(browser, service.url, {
        viewport: { width, height: 700 },
      });
      await page.goto(service.url);
      await page.getByRole('button', { name: 'Metals', exact: true }).click();
      await page.getByLabel('Search symbols').fill('o');
      const rows = page.locator('.quotes tbody tr');
      const count = await rows.count();
      const before = await page.getByRole('link', { name: 'Gold XAU', exact: true }).evaluate((link) => {
        // The event comes with the next frame, which on a busy machine is drawn after the navigation.
        addEventListener('scroll', (event) => event.stopImmediatePropagation(), {
          capture: true,
          once: true,
        });
        scrollTo(0, 500);
        (link as HTMLElement).click();
        return Math.round(scrollY);
      });
      expect(before).toBeGreaterThan(0);
      await page.getByRole('heading', { name: /^Gold/ }).waitFor();
      expect(await scrolled(page)).toBe(0);
      await page.goBack();
      await rows.first().waitFor();
      expect(await rows.count()).toBe(count);
      expect(await page.getByLabel('Search symbols').inputValue()).toBe('o');
      expect(await scrolled(page)).toBe(before);
      await page.getByRole('link', { name: 'Gold XAU', exact: true }).dispatchEvent('click');
      await page.locator('.crumb a').click();
      await rows.first().waitFor();
      expect(await rows.count()).toBe(count);
      await page.reload();
      await rows.first().waitFor();
      expect(await rows.count()).toBe(count);
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test('the bar at the top fits into a window of any width, also with the mark of a demo', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.route('**/console/config', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), simulated: true } });
    });
    await page.goto(service.url);
    await page.locator('.top').getByText('Simulated').waitFor();
    for (const width of [360, 390, 640, 641, 700, 768, 840, 841, 1024]) {
      await page.setViewportSize({ width, height: 860 });
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, `${width} px`).toBe(0);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  test('a link that is followed before the first frame is drawn opens its page', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.addInitScript(
      `document.addEventListener('DOMContentLoaded', () => { location.hash = '#/docs'; }, { once: true })`,
    );
    await page.goto(service.url);
    await page.getByRole('heading', { name: 'Documentation' }).waitFor();
    await close();
  });

  test('the order of the market is in the URL', async () => {
    const { page, complaints, shot, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/market?sort=Top+gainers`);
    const gainers = page.getByRole('button', { name: 'Top gainers', exact: true });
    await gainers.waitFor();
    expect(await gainers.getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('.quotes tbody tr').first().textContent()).toContain('XAU');
    await shot('market-sorted');
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    expect(new URL(page.url()).hash).toBe('#/market');
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a link to a symbol opens the same range and unit in a fresh browser', async () => {
    const first = await openPage(browser, service.url);
    await first.page.goto(`${service.url}/#/symbol/XAU`);
    await first.page.getByRole('button', { name: '1Y', exact: true }).click();
    await first.page.getByLabel('Unit').selectOption('kilogram');
    const link = first.page.url();
    expect(new URL(link).hash).toBe('#/symbol/XAU?range=1Y&unit=Kg');
    await first.close();
    const second = await openPage(browser, service.url);
    await second.page.goto(link);
    await second.page.getByText('US Dollar per kilogram').waitFor();
    expect(
      await second.page.getByRole('button', { name: '1Y', exact: true }).getAttribute('aria-pressed'),
    ).toBe('true');
    expect(second.complaints).toEqual([]);
    await second.close();
  });

  test('the plan editor shows the plan that was opened last', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/operator/customers`);
    await page.getByLabel('Admin token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is not the admin token of the service.').waitFor();
    await page.getByLabel('Admin token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const name = page.locator('form.fields').getByLabel('Name', { exact: true });
    await page.getByRole('button', { name: 'Change the plan free' }).click();
    expect(await name.inputValue()).toBe('free');
    await page.getByRole('button', { name: 'Change the plan pro' }).click();
    expect(await name.inputValue()).toBe('pro');
    expect(await page.getByLabel('Units per month').inputValue()).toBe('100000');
    await page.getByRole('button', { name: 'New plan' }).click();
    expect(await name.inputValue()).toBe('');
    expect(complaints.filter((line) => !line.includes('401'))).toEqual([]);
    await close();
  });

  test('a key is matched to its row, and every endpoint has a colour of its own', async () => {
    const key = await service.key('pro');
    const dates = 'startDate=2024-01-01&endDate=2024-01-20';
    for (const path of [
      '/symbols',
      '/market',
      '/rates/latest?symbols=XAU',
      `/rates/historical?symbols=XAU&date=${new Date().toISOString().slice(0, 10)}`,
      `/rates/time-series?symbols=XAU&${dates}`,
      `/rates/history?symbols=XAU&${dates}`,
      `/rates/revisions?symbols=XAU&${dates}`,
    ])
      await service.get(path, key);
    const stream = await service.get('/rates/stream?symbols=XAU', key);
    await stream.body!.cancel();
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints, shot, close } = await openPage(browser, service.url, { colorScheme });
      await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
      await page.goto(`${service.url}/#/account`);
      await page.locator('.swatches i').nth(7).waitFor();
      const colours = (await page.evaluate(
        `[...document.querySelectorAll('.swatches i')].map((one) => getComputedStyle(one).backgroundColor)`,
      )) as string[];
      expect(new Set(colours).size).toBe(colours.length);
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      const text = (await page.locator('.new-key').textContent())!;
      await page.locator('tr.marked').getByText('new', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByLabel('Which key is this?').fill(text);
      await page.getByRole('button', { name: 'Find it' }).click();
      await page.locator('tr.marked').getByText('the key you pasted').waitFor();
      await shot(`${colorScheme}-key-found`, true);
      expect(await seriousFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    }
  });

  test('what was clicked while the service was down works by itself when it is back', async () => {
    const dataDir = await demoFolder();
    const first = await Program.start({ OPENPIT_DATA_DIR: dataDir });
    const { page, close } = await openPage(browser, first.url);
    await page.goto(first.url);
    await page.locator('.live.on').waitFor();
    await first.end('SIGKILL');
    await page.getByRole('link', { name: 'Gold XAU', exact: true }).click();
    await page.getByText('No connection to the service').first().waitFor();
    const { port } = new URL(first.url);
    const second = await Program.start({ OPENPIT_DATA_DIR: dataDir, OPENPIT_PORT: port });
    await page.locator('.legend-day').waitFor();
    await page.locator('.chart canvas').first().waitFor();
    await page.getByText('No connection to the service').waitFor({ state: 'detached' });
    await close();
    await second.end();
  });
});
