import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { demoFolder } from '../support/database/demo-folder.ts';
import { eventually, Program } from '../support/program.ts';
import { seriousFindings } from './axe.ts';
import { LOOKS, openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const TOKEN = 'a-long-token-of-the-operator';

inBrowser('the page in a browser', (browser) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.start({ OPENPIT_DATA_DIR: await demoFolder(), OPENPIT_ADMIN_TOKEN: TOKEN });
  });
  afterAll(() => program?.end());

  for (const { name, ...options } of LOOKS) {
    test(`a person goes through every page, ${name}: no error, no request elsewhere, no serious finding of axe`, async () => {
      const watched = await openPage(browser, program.url, options);
      const { page } = watched;
      const look = async (shot: string, isExamined = true) => {
        await watched.shot(`${name}-${shot}`);
        if (isExamined) expect(await seriousFindings(page), shot).toEqual([]);
        expect(watched.complaints, shot).toEqual([]);
        expect(await sideways(page), `${shot} scrolls sideways`).toBe(false);
      };

      await page.goto(program.url);
      await page.getByText('Prices marked “simulated” are not real.').waitFor();
      await page.locator('.origin.simulated').first().waitFor();
      await page.getByText('npx openpit feed enable --all').waitFor();
      await page.locator('.live.on').waitFor();
      await page.locator('.sparkline').first().waitFor({ state: 'attached' });
      await look('market', false);
      await page.getByRole('button', { name: 'Metals', exact: true }).click();
      await look('market-metals'); // one group: all rows have the same markup, and axe takes seconds for the whole market
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.getByLabel('Search symbols').fill('gold');
      expect(await page.locator('.quotes tbody tr').count()).toBeLessThan(5);
      await page.getByLabel('Search symbols').fill('qqqq');
      await page.getByText('Nothing matches “qqqq”.').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();

      await page.getByRole('link', { name: 'Gold XAU', exact: true }).click();
      await page.locator('.chart canvas').first().waitFor();
      await page.locator('.legend-day').waitFor();
      expect(new URL(page.url()).hash).toBe('#/symbol/XAU');
      await look('symbol');
      await page.getByRole('button', { name: '1Y', exact: true }).click();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Python' }).click();
      await page.getByText('import requests').waitFor();
      await page.getByText('Download', { exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV', exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('XAU-day.csv');
      await look('symbol-year', false);
      await page.getByLabel('Unit').selectOption('kilogram');
      await page.getByText('unit=Kg').waitFor();
      await page.getByText('US Dollar per kilogram').waitFor();
      await page.getByText('none needed: the prices are simulated').waitFor();

      await page.getByRole('link', { name: 'Account' }).click();
      await page.getByText('Usage by day and endpoint').waitFor();
      await page.locator('.usage-chart rect').first().waitFor();
      await look('account', false); // its own test examines it, as that of the documentation does
      await manageKeys(page);
      await look('account-new-key');

      await page.getByRole('link', { name: 'Operator' }).click();
      await page.getByLabel('Admin token').fill(TOKEN);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('serves this page').waitFor();
      await page.getByRole('link', { name: 'Feeds', exact: true }).click();
      await page.getByText('8 feeds that can be turned on').waitFor();
      await page.getByRole('link', { name: 'Customers' }).click();
      await runService(page, `Acme ${name}`);
      await look('operator');

      await page.getByRole('link', { name: 'Docs' }).click();
      await page.getByText('quota_exhausted').first().waitFor();
      await look('docs', false);
      await page.getByRole('heading', { name: 'A closed day' }).scrollIntoViewIfNeeded();
      await watched.shot(`${name}-docs-pictures`);
      await watched.close();
    });
  }

  test('the first chart takes less than 100 KB over the wire', async () => {
    const watched = await openPage(browser, program.url);
    await watched.page.goto(`${program.url}/#/symbol/XAU`);
    await watched.page.locator('.legend-day').waitFor();
    await watched.page.locator('.chart canvas').first().waitFor();
    await watched.page.waitForLoadState('networkidle');
    await eventually(async () => watched.bytes.size >= 8);
    const { '/market/quotes': _, ...bytes } = Object.fromEntries(watched.bytes); // requested later, repeatedly
    const sum = Object.values(bytes).reduce((all, one) => all + one, 0);
    console.log(`to the first chart: ${(sum / 1024).toFixed(1)} KB`);
    expect(sum).toBeLessThan(100 * 1024);
    await watched.close();
  });

  test('candles stay at their dates when an average needs older bars', async () => {
    const { page, close } = await openPage(browser, program.url);
    await page.goto(`${program.url}/#/symbol/XAU`);
    await eventually(async () => (await lastCandle(page)) > 0);
    const before = await lastCandle(page);
    await page.getByText('Averages', { exact: true }).click();
    await Promise.all([
      page.waitForResponse((response) => response.url().includes('/rates/history')),
      page.getByLabel('200 bars').check(),
    ]);
    await page
      .locator('.legend-average')
      .getByText(/MA 200 \d/)
      .waitFor();
    await page.locator('.chart[aria-busy="false"]').waitFor();
    await page.evaluate(
      `new Promise((done) => { let left = 30; (function wait() { left-- > 0 ? requestAnimationFrame(wait) : done(); })(); })`,
    );
    expect(Math.abs((await lastCandle(page)) - before)).toBeLessThan(4);
    await close();
  });

  test('everything can be reached by keyboard, and the theme switch is kept', async () => {
    const { page, close } = await openPage(browser, program.url, { colorScheme: 'light' });
    await page.goto(program.url);
    await page.locator('.live.on').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.keyboard.press('Tab');
    await page.keyboard.type('silver');
    await page.keyboard.press('Tab');
    while (!(await page.evaluate(`document.activeElement.matches('.quotes a')`)))
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Silver/ }).waitFor();
    await page.getByRole('button', { name: 'Switch to dark colours' }).click();
    await page.reload();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await page.getByRole('heading', { name: /^Silver/ }).waitFor();
    await close();
  });

  test('a link to a symbol that is not there, and one to nowhere, say so', async () => {
    const { page, complaints, close } = await openPage(browser, program.url);
    await page.goto(`${program.url}/#/symbol/NOPE`);
    await page.getByText('There is no symbol “NOPE”.').waitFor();
    await page.goto(`${program.url}/#/symbol/%7BXAU`);
    await page.getByText('There is no symbol “{XAU”.').waitFor();
    for (const path of ['nowhere', 'symbol', 'symbol/']) {
      await page.goto(`${program.url}/#/account`);
      await page.goto(`${program.url}/#/${path}`);
      await page.getByText('There is nothing here.').waitFor();
    }
    expect(complaints).toEqual([expect.stringContaining('404')]); // Chromium reports that the service knows no such symbol
    await close();
  });
});

/** Where the chart's last candle ends, in pixels: the last column with a stroke of its colours that is not the dotted line. */
async function lastCandle(page: Page): Promise<number> {
  return (await page.evaluate(`(() => {
    const canvas = [...document.querySelectorAll('.chart canvas')].sort((a, b) => b.width - a.width)[0];
    if (!canvas?.width) return 0;
    const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const colours = ['11,115,80', '179,49,44'];
    for (let x = width - 1; x > 0; x--) {
      let run = 0;
      for (let y = 0; y < height; y++) {
        const at = (y * width + x) * 4;
        run = colours.includes(data.slice(at, at + 3).join()) ? run + 1 : 0;
        if (run === 4) return x;
      }
    }
    return 0;
  })()`)) as number;
}

/** Whether the page is wider than the screen. */
async function sideways(page: Page): Promise<boolean> {
  return (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) as boolean;
}

async function manageKeys(page: Page): Promise<void> {
  const active = page.locator('tr').filter({ hasText: 'active' });
  const revoked = page.locator('tr').filter({ hasText: 'revoked' });
  const [activeBefore, revokedBefore] = [await active.count(), await revoked.count()];
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Your new key, shown only once').waitFor();
  await active.nth(activeBefore).waitFor();
  const first = (await page.locator('.new-key').textContent())!;
  expect(first).toStartWith('pit_live_');
  const other = active.filter({ hasNotText: 'this one' }).filter({ hasText: 'never' }).first();
  const id = (await other.locator('code').textContent())!;
  await page.getByRole('button', { name: `Rotate ${id}` }).click();
  await page.getByRole('button', { name: `Rotate now ${id}` }).click();
  await active.nth(activeBefore + 1).waitFor();
  await page.getByRole('button', { name: `Revoke ${id}` }).click();
  await page.getByRole('button', { name: `Revoke for good ${id}` }).click();
  await revoked.nth(revokedBefore).waitFor();
}

async function runService(page: Page, name: string): Promise<void> {
  await page.getByLabel('New account').fill(name);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText(`The first key of ${name}, shown only once`).waitFor();
  const row = page.locator('tr').filter({ hasText: name });
  await row.getByLabel(`Plan of ${name}`).selectOption('pro');
  await row.getByText('of 100,000').waitFor();
  await row.getByRole('button', { name: 'Suspend' }).click();
  await row.getByRole('button', { name: 'Suspend now' }).click();
  await row.getByText('suspended').waitFor();
  await page.getByRole('button', { name: 'Change the plan basic' }).click();
  await page.getByLabel('Symbols', { exact: true }).fill('25');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('tr').filter({ hasText: 'basic' }).getByText('25', { exact: true }).waitFor();
}
