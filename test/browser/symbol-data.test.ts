import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Download } from 'playwright-core';
import { computedPrice, day } from '../../src/console/show/format.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const DAY_MS = 86_400_000;
const DAYS = 500;

inBrowser('the data of a symbol', (browser) => {
  let service: TestService;
  const date = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  beforeAll(async () => {
    const settings = { OPENPIT_PUBLIC_PLAN: 'unlimited' };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    const days = Array.from({ length: DAYS }, (_, i) => DAYS - i);
    // 400 days ago it was higher than in the last 52 weeks.
    const gold = days.map((ago) => [date(ago), ago > 390 ? 9_000 : 2_000 + (ago % 50)] as const);
    const silver = days.map((ago) => [date(ago), 30 + (ago % 7)] as const);
    await service.publish('XAU', {
      ...Object.fromEntries(gold),
      [date(1)]: [2_001, 2_010.5, 1_990.25, 2_000],
    });
    await service.publish('XAG', Object.fromEntries(silver));
  });
  afterAll(() => service?.close());

  const open = async (hash: string) => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const watched = await openPage(browser, service.url, { permissions });
    await watched.page.goto(`${service.url}/${hash}`);
    await watched.page.locator('.legend-day').waitFor();
    await watched.page.locator('.chart canvas').first().waitFor();
    return watched;
  };
  const bytesOf = async (download: Download) => Bun.file((await download.path())!).bytes();

  test('the ranges of the day and of 52 weeks are those of the prices', async () => {
    const { page, complaints, close } = await open('#/symbol/XAU?range=1M');
    const range = (name: string) => page.locator('.ranges > div').filter({ hasText: name });
    expect(await range('Range of the day').textContent()).toBe('Range of the day1,990.252,010.50');
    expect(await range('52 weeks').textContent()).toBe('52 weeks1,990.252,049.00');
    expect(complaints).toEqual([]);
    await close();
  });

  test('statistics are asked for once they are wanted, and are in the URL', async () => {
    const { page, complaints, close } = await open('#/symbol/XAU?compare=XAG');
    await page.getByRole('button', { name: 'Show statistics' }).click();
    const table = page.locator('.statistics');
    await table.getByText('Volatility').waitFor();
    await table.getByText('Correlation with XAG').waitFor();
    expect(await table.locator('thead th').allTextContents()).toEqual(['Statistic', 'XAU', 'XAG']);
    const path = `/rates/statistics?symbols=XAU&startDate=${date(182)}&endDate=${date(0)}`;
    const { statistics } = (await (await service.get(path, await service.key('pro'))).json()) as {
      statistics: { XAU: { count: number } };
    };
    expect(await table.locator('tbody td').first().textContent()).toBe(String(statistics.XAU.count));
    const correlation = table.getByRole('row', { name: 'Correlation with XAG' }).locator('td').first();
    expect(await correlation.textContent()).toMatch(/^−?0\.\d\d$/);
    await page.reload();
    await table.getByText('Volatility').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('what the chart shows is downloaded as CSV, Parquet or a picture', async () => {
    const { page, complaints, close } = await open('#/symbol/XAU?compare=XAG&range=1M');
    const download = async (name: string) => {
      await page.getByText('Download', { exact: true }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      return file;
    };
    const csv = await download('CSV');
    expect(csv.suggestedFilename()).toBe('XAU-XAG-day.csv');
    const lines = new TextDecoder()
      .decode(await bytesOf(csv))
      .trim()
      .split('\n');
    expect(lines).toHaveLength(1 + 2 * 30);
    expect(lines.find((line) => line.startsWith(`XAU,${date(1)}`))).toBe(
      `XAU,${date(1)},2001,2010.5,1990.25,2000,T.oz,USD,test`,
    );
    const parquet = await bytesOf(await download('Parquet'));
    expect(new TextDecoder().decode(parquet.slice(0, 4))).toBe('PAR1');
    const png = await download('PNG picture');
    expect(png.suggestedFilename()).toBe('XAU-XAG-day.png');
    expect(new TextDecoder().decode((await bytesOf(png)).slice(1, 4))).toBe('PNG');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a symbol that is not on the first page of a history has its source in the CSV', async () => {
    const days = Array.from({ length: 2_600 }, (_, i) => [date(2_600 - i), 1_000] as const);
    await service.publish('PL', Object.fromEntries(days));
    const { page, close } = await open('#/symbol/PL?compare=XAG&range=All&interval=day');
    await page.getByText('Download', { exact: true }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ]);
    const lines = new TextDecoder()
      .decode(await bytesOf(file))
      .trim()
      .split('\n');
    expect(lines).toHaveLength(1 + 2_600 + DAYS);
    expect(lines.filter((line) => !line.endsWith(',test'))).toEqual([lines[0]!]);
    await close();
  });

  test('a Parquet file is named for the only symbol that it has', async () => {
    const { page, close } = await open('#/symbol/XAU?compare=XAG&range=1M&unit=g');
    await page.getByText('Download', { exact: true }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Parquet (XAU only)' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('XAU-day.parquet');
    await close();
  });

  test('the request is copied for curl, Python, JavaScript and a spreadsheet, and works', async () => {
    const { page, close } = await open('#/symbol/XAU?range=1M');
    const copied = async (language: string) => {
      await page.getByRole('button', { name: language, exact: true }).click();
      await page.evaluate('navigator.clipboard.writeText("")');
      await page.getByRole('button', { name: `Copy the request as ${language}` }).click();
      await page.waitForFunction('navigator.clipboard.readText().then((text) => text !== "")');
      return (await page.evaluate('navigator.clipboard.readText()')) as string;
    };
    expect(await copied('curl')).toStartWith('curl -H');
    expect(await copied('Python')).toContain('requests.get(');
    expect(await copied('JavaScript')).toContain('await fetch(');
    const [, url] = /^=IMPORTDATA\("(.+?)"; ","; "en_US"\)$/.exec(await copied('Spreadsheet'))!;
    const rows = (await (await fetch(url!)).text()).trim().split('\n');
    expect(rows[0]).toStartWith('date,symbol,open,high,low,close');
    expect(rows).toHaveLength(1 + 30);
    await close();
  });

  test('every number has a source, an age and a licence', async () => {
    const { page, close } = await open('#/symbol/XAU?compare=XAG');
    const rows = page.locator('section').filter({ hasText: 'Sources' }).locator('tbody tr');
    expect(await rows.count()).toBe(2);
    for (const row of await rows.all()) {
      expect(await row.locator('[data-label="Source"]').textContent()).toBe('test');
      expect(await row.locator('[data-label="Age"]').textContent()).toMatch(/20\d\d$/);
      await row.getByText('was supplied by the operator').waitFor();
    }
    await close();
  });

  test('the age in the sources is that of the price beside it', async () => {
    const [first, last] = [date(300), date(210)];
    const { page, close } = await open(`#/symbol/XAU?from=${first}&to=${last}&compare=XAG`);
    const cell = (name: string, code: string) =>
      page
        .locator('section')
        .filter({ hasText: 'Sources' })
        .locator('tbody tr')
        .filter({ hasText: code })
        .locator(`[data-label="${name}"]`);
    expect(await cell('Newest', 'Gold').textContent()).toContain('2,000.00');
    expect(await cell('Age', 'Gold').textContent()).toBe(day(date(1)));
    await page.getByLabel('Unit').selectOption('kilogram');
    const perKilogram = (2_000 + (210 % 50)) / 0.0311034768;
    await cell('Newest', 'Gold').getByText(computedPrice(perKilogram)).waitFor();
    expect(await cell('Age', 'Gold').textContent()).toBe(day(last));
    expect(await cell('Age', 'Silver').textContent()).toBe(day(date(1)));
    await close();
  });
});
