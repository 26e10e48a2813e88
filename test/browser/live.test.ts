import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { CATALOGUE_SIZE } from '../support/responses/catalogue.ts';
import { NOON, openTestService, type TestService } from '../support/service.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

/** Every symbol of the catalogue moves this often. */
const TICK_EVERY_MS = 1_000;
const MEASURE_MS = 8_000;

inBrowser('a live market', (browser) => {
  let service: TestService;
  let ids: number[];
  /** Lets the service’s clock run. */
  let running: ReturnType<typeof setInterval>;
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    // Today: the page asks for the last days by its own clock.
    service = await openTestService('sqlite', { settings, now: Date.now() });
    ids = (await service.ledger.symbols.list()).map(({ id }) => id);
    const today = Math.floor(Date.now() / 86_400_000);
    const bars = ids.flatMap((symbolId) =>
      Array.from({ length: 25 }, (_, i) => {
        const close = 100 + symbolId + (i % 5);
        return { symbolId, day: today - 25 + i, open: close, high: close + 1, low: close - 1, close };
      }),
    );
    await service.ledger.bars.publish(bars, { source: 'test', recordedAt: NOON });
    await service.core.follow();
    running = setInterval(() => {
      service.clock.time = Date.now();
    }, 100);
  });
  afterAll(async () => {
    clearInterval(running);
    await service?.close();
  });

  /** A new price for every symbol. */
  const moveAll = async (turn: number) => {
    const at = Date.now();
    service.clock.time = at; // a price from the future would not be visible yet
    const ticks = ids.map((symbolId) => ({
      symbolId,
      at,
      received: at,
      price: 200 + symbolId + turn,
      id: `${symbolId} ${at}`,
    }));
    await service.ledger.ticks.append(ticks, 'test');
    await service.core.follow();
  };

  test('prices change on the screen as they come, and a symbol’s own page follows too', async () => {
    const { page, complaints, shot, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.locator('.live.on').waitFor();
    await moveAll(1);
    const gold = page
      .locator('tr')
      .filter({ has: page.getByRole('link', { name: 'Gold XAU', exact: true }) });
    await gold.scrollIntoViewIfNeeded();
    const id = (await service.ledger.symbols.list()).find(({ code }) => code === 'XAU')!.id;
    await gold.getByText(`${200 + id + 1}.00`).waitFor();
    await moveAll(2);
    await gold.getByText(`${200 + id + 2}.00`).waitFor();
    await shot('live-market');
    await gold.getByRole('link').click();
    await page
      .locator('.big')
      .getByText(`${200 + id + 2}.00`)
      .waitFor();
    await moveAll(3);
    await page
      .locator('.big')
      .getByText(`${200 + id + 3}.00`)
      .waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('dates that are being typed stay when a price moves', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/symbol/XAU`);
    await moveAll(4);
    const id = (await service.ledger.symbols.list()).find(({ code }) => code === 'XAU')!.id;
    const price = (turn: number) => page.locator('.big').getByText(`${200 + id + turn}.00`);
    await price(4).waitFor();
    await page.getByText('Dates', { exact: true }).click();
    const from = page.getByLabel('From', { exact: true });
    const typed = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10);
    await from.fill(typed);
    await moveAll(5);
    await price(5).waitFor();
    expect(await from.inputValue()).toBe(typed);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(new RegExp(`from=${typed}`));
    await page.getByRole('button', { name: '1M', exact: true }).click();
    await page.getByText('Dates', { exact: true }).click();
    expect(await from.inputValue()).not.toBe(typed);
    await close();
  });

  test('all symbols that move every second take less than 10 % of a core', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.locator('.live.on').waitFor();
    const devtools = await page.context().newCDPSession(page);
    // The time that its thread has worked, not the time that passed: other tests may be running.
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const taskSeconds = async () => {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')!.value;
    };
    await moveAll(10);
    await page.waitForTimeout(1_500);
    const before = await taskSeconds();
    for (let turn = 11; turn < 11 + MEASURE_MS / TICK_EVERY_MS; turn++) {
      await moveAll(turn);
      await page.waitForTimeout(TICK_EVERY_MS);
    }
    const share = (await taskSeconds()) - before;
    const percent = (share / (MEASURE_MS / 1000)) * 100;
    console.log(`${CATALOGUE_SIZE} symbols, a change each a second: ${percent.toFixed(1)} % of a core`);
    expect(percent).toBeLessThan(10);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a hidden tab sends no requests, and sends one as soon as it is visible again', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.clock.install();
    await page.goto(service.url);
    await page.locator('.live.on').waitFor();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/market')) asked++;
    });
    await look(page, true);
    await page.clock.runFor(60_000);
    expect(asked).toBe(0);
    const again = page.waitForRequest(/market\/quotes/);
    await look(page, false);
    await again;
    await close();
  });

  test('a chart has the extremes that it missed while its tab was hidden, for one request', async () => {
    const { page, close } = await openPage(browser, service.url);
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/rates/')) requests.push(request.url());
    });
    await page.clock.install();
    await page.goto(`${service.url}/#/symbol/XAG`);
    await page.locator('.legend-day').waitFor();
    await look(page, true);
    await moveAll(5_000);
    await moveAll(1_000);
    await page.clock.runFor(11 * 60_000);
    expect(requests).toHaveLength(1);
    await look(page, false);
    const xag = (await service.ledger.symbols.list()).find(({ code }) => code === 'XAG')!;
    const high = (200 + xag.id + 5_000).toLocaleString('en-US', { minimumFractionDigits: 2 });
    await page.locator('.legend').getByText(`H ${high}`).waitFor();
    await look(page, true);
    await look(page, false);
    expect(requests).toHaveLength(2);
    await close();
  });
});

/** Hides the tab, or shows it again. */
function look(page: Page, away: boolean): Promise<unknown> {
  return page.evaluate(
    `Object.defineProperty(document, 'hidden', { get: () => ${away}, configurable: true });
     document.dispatchEvent(new Event('visibilitychange'));`,
  );
}
