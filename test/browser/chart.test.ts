import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { day } from '../../src/console/show/format.ts';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage } from './browser.ts';
import { recordDrawnText } from './drawn-text.ts';
import { inBrowser } from './in-browser.ts';

const DAY_MS = 86_400_000;
const DAYS = 2_600;

inBrowser('a chart', (browser) => {
  let service: TestService;
  const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const weekdays = Array.from({ length: DAYS }, (_, i) => DAYS - i).filter(
    (daysAgo) => new Date(date(daysAgo)).getUTCDay() % 6 !== 0,
  );
  /** Prices of all weekdays; `barsAgo` is 1 for the newest. */
  const daily = (price: (barsAgo: number) => number) =>
    Object.fromEntries(weekdays.map((daysAgo, i) => [date(daysAgo), price(weekdays.length - i)]));
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    await service.publish(
      'XAU',
      daily((ago) => 4_000 - ago),
    );
    await service.publish(
      'XAG',
      daily((ago) => (ago > 1 ? 40 : 50)),
    );
    await service.publish(
      'EUR/USD',
      daily(() => 1.25),
    );
    const months = Array.from({ length: 60 }, (_, i) => [
      `${2020 + Math.floor(i / 12)}-${month(i)}-01`,
      100 + i,
    ]);
    await service.publish('AL-AVG', Object.fromEntries(months));
  });
  afterAll(() => service?.close());

  const month = (i: number) => String((i % 12) + 1).padStart(2, '0');
  const open = async (hash: string, script = '', viewport = { width: 1280, height: 860 }) => {
    const watched = await openPage(browser, service.url, { viewport });
    await watched.page.addInitScript(script);
    const requests: URL[] = [];
    watched.page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/rates/'))
        requests.push(new URL(request.url()));
    });
    const drawn = await recordDrawnText(watched.page);
    await watched.page.goto(`${service.url}/${hash}`);
    await watched.page.locator('.legend-day').waitFor();
    await watched.page.locator('.chart canvas').first().waitFor();
    return { ...watched, requests, drawn };
  };
  const hashOf = (page: Page) => decodeURIComponent(new URL(page.url()).hash);
  const isPressed = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed');

  test('it is drawn in a browser whose language is no valid tag, as Chromium’s is with LANG=C.UTF-8', async () => {
    const language = `Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })`;
    const { complaints, drawn, close } = await open('#/symbol/XAU', language);
    await eventually(async () => (await drawn.all()).some((text) => /^(Jan|Apr|Jul|Oct)$/.test(text)));
    expect(complaints).toEqual([]);
    await close();
  });

  test('no label of an axis is cut off on a phone, wherever the view is moved', async () => {
    const { page, drawn, close } = await open('#/symbol/XAU?range=5Y', '', { width: 375, height: 760 });
    await eventually(async () => (await drawn.all()).some((text) => /^20\d\d$/.test(text)));
    for (const key of ['ArrowLeft', '+', 'ArrowRight', '-']) {
      for (let presses = 0; presses < 8; presses++) {
        await page.locator('.chart-box').press(key);
        await page.evaluate(
          'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
        );
      }
    }
    expect(await drawn.cutOff()).toEqual([]);
    await close();
  });

  test('everything that is chosen is in the URL, and the link shows the same in a fresh browser', async () => {
    const first = await open('#/symbol/XAU');
    const { page } = first;
    await page.getByLabel('Compare with').fill('sliver');
    await page
      .getByRole('option', { name: /^Silver/ })
      .first()
      .waitFor();
    await page.getByLabel('Compare with').press('Enter');
    await page.getByRole('button', { name: 'Remove Silver' }).waitFor();
    await page.getByLabel('Currency').selectOption('EUR');
    await page.getByLabel('Unit').selectOption('kilogram');
    await page.getByRole('button', { name: '5Y', exact: true }).click();
    await page.getByLabel('Interval').selectOption('month');
    await page.getByRole('button', { name: 'Area', exact: true }).click();
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await page.getByText('Averages', { exact: true }).click();
    await page.getByLabel('20 bars').check();
    for (const width of [390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 860 });
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), `${width}`).toBe(
        false,
      );
    }
    const hash =
      '#/symbol/XAU?compare=XAG&currency=EUR&unit=Kg&range=5Y&interval=month&type=area&scale=log&average=20';
    expect(hashOf(page)).toBe(hash);
    expect(first.complaints).toEqual([]);
    const link = page.url();
    await first.close();

    const second = await open(link.slice(service.url.length + 1));
    const kilograms = (((4_000 - 1) / 1.25) * 1000) / 31.1034768;
    await second.page
      .locator('.big')
      .getByText(Math.round(kilograms).toLocaleString('en-US').slice(0, 6))
      .waitFor();
    await second.page.getByText('Euro per kilogram').waitFor();
    await second.page.locator('.legend.compared').getByText('40.0000').waitFor();
    await second.page.locator('.legend.compared').getByText('EUR/T.oz').waitFor();
    await second.page.locator('.legend-average').getByText('MA 20').waitFor();
    for (const name of ['5Y', 'Area', 'Log']) expect(await isPressed(second.page, name), name).toBe('true');
    expect(await second.page.locator('.legend-interval').textContent()).toBe('monthly');
    expect(second.complaints).toEqual([]);
    expect(hashOf(second.page)).toBe(hash);
    await second.close();
  });

  test('a link with compared symbols and a currency costs two units', async () => {
    const key = await service.key('pro');
    const { page, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(`${service.url}/#/symbol/XAU?compare=XAG,{XAU}/{XAG}&currency=EUR&range=5Y&average=200`);
    await page.locator('.legend.compared').nth(1).getByText('%').waitFor();
    for (const range of ['1M', '6M', '1Y'])
      await page.getByRole('button', { name: range, exact: true }).click();
    await page.locator('.chart[aria-busy="false"]').waitFor();
    const { used } = (await (await service.get('/usage', key)).json()) as { used: number };
    expect(used).toBe(3); // the market, five years, and the last year for the three shorter ranges
    await close();
  });

  test('the axis has thousands separators, percent on a percent scale, and the legend names the bars', async () => {
    const { page, drawn, complaints, close } = await open('#/symbol/XAU?range=1Y');
    await page.locator('.legend').getByText('3,999.00').first().waitFor();
    const labels = await drawn.all();
    expect(labels.filter((text) => /^\d,\d{3}\.00$/.test(text)).length).toBeGreaterThan(2);
    expect(labels.filter((text) => /^\d{4}\.\d\d$/.test(text))).toEqual([]);
    expect(await page.locator('.legend-interval').textContent()).toBe('daily');
    await drawn.clear();
    await page.getByRole('button', { name: '%', exact: true }).click();
    await eventually(async () => (await drawn.all()).some((text) => / %$/.test(text)));
    expect(complaints).toEqual([]);
    await close();
  });

  test('the axis has labels for prices of any size', async () => {
    const { drawn, close } = await open('#/symbol/{XAG}/1000000');
    const labels = async () => (await drawn.all()).filter((text) => /^0\.0000[45]\d+$/.test(text));
    await eventually(async () => (await labels()).length > 2);
    await close();
  });

  test('the wheel scrolls the page until the chart is focused, and then zooms it', async () => {
    const { page, drawn, close } = await open('#/symbol/XAU');
    const scrolled = () => page.evaluate('scrollY') as Promise<number>;
    await eventually(async () => (await drawn.all()).length > 0); // a chart that is not drawn yet cannot be zoomed
    await page.locator('.chart-box').hover();
    await page.mouse.wheel(0, 200);
    await eventually(async () => (await scrolled()) > 0);
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('.chart-box').click({ position: { x: 300, y: 100 } });
    const before = (await drawn.all()).length;
    await eventually(async () => {
      await page.mouse.wheel(0, -200); // one step may show the same labels as before, depending on the date
      return (await drawn.all()).length > before;
    });
    expect(await scrolled()).toBe(0);
    await page.getByRole('button', { name: '6M', exact: true }).focus();
    await page.locator('.chart-box').hover();
    await page.mouse.wheel(0, 200);
    await eventually(async () => (await scrolled()) > 0);
    await close();
  });

  test('moving to the left loads older prices, once each, until there are none', async () => {
    const { page, requests, complaints, close } = await open('#/symbol/XAU');
    const [first] = requests;
    expect(requests).toHaveLength(1);
    await page.locator('.chart-box').focus();
    const older = page.waitForRequest((request) =>
      request.url().includes(`endDate=${dayBefore(startOf(first!))}`),
    );
    while (requests.length < 2) await page.keyboard.press('ArrowLeft');
    expect(startOf(new URL((await older).url()))).toBe(date(weekdays[0]!));
    await page.getByText('Loading older prices…').waitFor({ state: 'detached' });
    for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('-');
    expect(requests).toHaveLength(2);
    expect(complaints).toEqual([]);
    await close();
  });

  test('weeks and quarters are whole from the first one on, also when older ones are loaded', async () => {
    for (const interval of ['week', 'quarter']) {
      const { page, requests, complaints, close } = await open(`#/symbol/XAU?range=5Y&interval=${interval}`);
      const shown = new URL((await page.locator('.code-box code').textContent())!.match(/http[^']+/)![0]);
      expect(startOf(shown)).toBe(startOf(requests[0]!));
      await page.locator('.chart-box').focus();
      while (requests.length < 2) await page.keyboard.press('ArrowLeft');
      await page.getByText('Loading older prices…').waitFor({ state: 'detached' });
      for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowLeft');
      expect(complaints, interval).toEqual([]);
      await close();
    }
  });

  test('a formula has a page of its own, and two dates are a range', async () => {
    const { page, requests, complaints, close } = await open('#/symbol/{XAU}-{XAG}');
    await page.getByRole('heading', { name: 'XAU - XAG' }).waitFor();
    await page.locator('.big').getByText('3,949.00').waitFor();
    await page.getByText('Dates').click();
    await page.getByLabel('From', { exact: true }).fill('2024-01-01');
    await page.getByLabel('To', { exact: true }).fill('2024-03-28');
    await page.getByRole('button', { name: 'Show', exact: true }).press('Enter');
    await page.locator('.legend-day').getByText('28 Mar 2024').waitFor();
    expect(hashOf(page)).toBe('#/symbol/{XAU}-{XAG}?from=2024-01-01&to=2024-03-28');
    expect(requests.at(-1)!.searchParams.get('endDate')).toBe('2024-03-28');
    expect(complaints).toEqual([]);
    await close();
  });

  test('the headline is the latest rate with its change, also above minutes, weeks or a range in the past', async () => {
    const past = 'from=2024-01-02&to=2024-03-28';
    const { page, complaints, close } = await open(`#/symbol/XAU?${past}&currency=EUR`);
    const headline = page.locator('.big-rate');
    await headline.getByText('€').waitFor();
    await headline.getByText('3,199.20').waitFor();
    await headline.getByText('+0.80 (+0.03 %)').waitFor();
    await page.locator('.conversions').getByText('3,199.20').waitFor();
    for (const range of ['1D', '1M']) {
      await page.getByRole('button', { name: range, exact: true }).click();
      await headline.getByText('+0.80 (+0.03 %)').waitFor();
    }
    for (const view of ['range=5Y&interval=month', past]) {
      await page.goto(`${service.url}/#/symbol/{XAU}-{XAG}?${view}`);
      await headline.getByText('3,949.00').waitFor();
      await headline.getByText(day(date(weekdays.at(-1)!))).waitFor();
      await page.goto(`${service.url}/#/symbol/{XAU}-{XAG}?${view}&currency=EUR`);
      await headline.getByText('3,159.20').waitFor();
      await headline.getByText(day(date(weekdays.at(-1)!))).waitFor();
    }
    expect(complaints).toEqual([]);
    await close();
  });

  test('a range without prices says so, and shows none of another range', async () => {
    const { page, complaints, shot, close } = await open('#/symbol/AL-AVG?range=All');
    await page.goto(`${service.url}/#/symbol/AL-AVG?from=2025-06-01&to=2025-08-01`);
    await page.getByText('No prices in this range. The last is from 1 Dec 2024.').waitFor();
    expect(await page.locator('.legend-day').count()).toBe(0);
    expect(await page.getByRole('table', { name: /^Prices of/ }).count()).toBe(0);
    await shot('chart-empty-range');
    await page.goto(`${service.url}/#/symbol/XAU?from=2015-01-01&to=2015-03-01`);
    const first = date(weekdays[0]!);
    await page.getByText(`No prices in this range. The first is from ${day(first)}.`).waitFor();
    await page.locator('.chart-tools summary').first().click();
    expect(await page.getByLabel('From', { exact: true }).getAttribute('min')).toBe(first);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a scale of prices at or below zero is linear, and the sign stands before the currency', async () => {
    const { page, complaints, drawn, shot, close } = await open('#/symbol/{XAG}-{XAU}?scale=log');
    await page.getByText('The scale is linear').waitFor();
    expect(await isPressed(page, 'Linear')).toBe('true');
    expect(await page.locator('.big').textContent()).toBe('−$3,949.00');
    await eventually(async () => (await drawn.all()).some((text) => /^−\d,\d{3}\.\d\d$/.test(text)));
    await shot('chart-negative');
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(`${service.url}/#/symbol/XAU?scale=log`);
    await page.getByText('The scale is linear').waitFor({ state: 'detached' });
    expect(await isPressed(page, 'Log')).toBe('true');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a named formula has a page like a symbol, and the search finds it', async () => {
    const { page, requests, complaints, close } = await open('#/symbol/GOLDSILVER');
    await page.getByRole('heading', { name: 'Gold/Silver Ratio GOLDSILVER' }).waitFor();
    await page.locator('.big').getByText('79.98').waitFor();
    expect(requests[0]!.searchParams.get('symbols')).toBe('GOLDSILVER');
    expect(await page.getByRole('button', { name: 'Show corrections' }).count()).toBe(0);
    await page.getByLabel('Compare with').fill('crush');
    await page.getByRole('option', { name: /SOYCRUSH/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('an average is the mean of as many closes as it says, also at the first bar shown', async () => {
    const { page, close } = await open('#/symbol/XAU?range=1M&average=10,200');
    const mean = (length: number) => 4_000 - (length + 1) / 2;
    const text = (length: number) =>
      `MA ${length} ${mean(length).toLocaleString('en-US', { minimumFractionDigits: 2 })}`;
    for (const length of [10, 200]) await page.locator('.legend').getByText(text(length)).waitFor();
    await close();
  });

  test('a screen reader gets a short table of what the chart shows', async () => {
    const { page, complaints, close } = await open('#/symbol/XAU?range=5Y&compare=XAG');
    const table = page.getByRole('table', { name: 'Prices of Gold in USD/T.oz' });
    const rows = table.locator('tbody tr');
    expect(await rows.count()).toBeWithin(12, 25);
    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      'Period',
      'open',
      'high',
      'low',
      'close',
      'Silver',
    ]);
    const newest = rows.last().getByRole('cell');
    expect((await newest.allTextContents()).slice(-2)).toEqual(['3,999.00', '50.00']);
    const periods = table.getByRole('rowheader').filter({ hasText: ' to ' });
    expect(await periods.count()).toBeGreaterThan(10);
    await page.getByRole('button', { name: '1M', exact: true }).click();
    await eventually(async () => (await periods.count()) === 0); // a row for each day
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    expect(complaints).toEqual([]);
    await close();
  });

  test('monthly prices are asked for by month', async () => {
    const { page, requests, close } = await open('#/symbol/AL-AVG?range=All');
    expect(requests[0]!.searchParams.get('interval')).toBe('month');
    expect(await page.locator('.legend-interval').textContent()).toBe('monthly');
    await page.locator('.ranges dt').getByText('Shown in the chart').waitFor();
    expect(await page.locator('.ranges dt').allTextContents()).toEqual(['Shown in the chart']); // a month has one price
    expect(await page.locator('.rate-origin').textContent()).not.toContain('market');
    await close();
  });
});

function startOf(url: URL): string {
  return url.searchParams.get('startDate')!;
}

function dayBefore(date: string): string {
  return new Date(Date.parse(date) - DAY_MS).toISOString().slice(0, 10);
}
