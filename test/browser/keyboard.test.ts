import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { demoFolder } from '../support/database/demo-folder.ts';
import { eventually, Program } from '../support/program.ts';
import { hold, openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('with the keyboard alone', (browser) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.start({ OPENPIT_DATA_DIR: await demoFolder() });
  });
  afterAll(() => program?.end());

  test('gold is found, compared with silver over five years in euros, downloaded, and its link opens the same view', async () => {
    const { page, complaints, shot, close } = await openPage(browser, program.url, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(program.url);
    await page.locator('.live.on').waitFor();
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Find a symbol' }).waitFor();
    await page.keyboard.type('gold');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Gold XAU' }).waitFor();
    await page.locator('.legend-day').waitFor();
    await tabTo(page, '5Y');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Compare with');
    await page.keyboard.type('silver');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Silver' }).waitFor();
    await page.getByLabel('Currency').waitFor();
    await tabTo(page, 'Currency');
    await page.keyboard.type('EUR');
    await page.locator('.legend.compared').getByText('EUR/T.oz').waitFor();
    await tabTo(page, 'Download');
    await page.keyboard.press('Enter');
    await tabTo(page, 'CSV');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    const lines = (await Bun.file((await download.path())!).text()).trim().split('\n');
    expect(lines.some((line) => /^XAU,.*,T\.oz,EUR,/.test(line))).toBe(true);
    expect(lines.some((line) => /^XAG,.*,T\.oz,EUR,/.test(line))).toBe(true);
    await tabTo(page, 'Copy link');
    await page.keyboard.press('Enter');
    await page.getByText('Copied', { exact: true }).waitFor();
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(new URL(link).hash).toBe('#/symbol/XAU?range=5Y&compare=XAG&currency=EUR');
    await shot('keyboard-gold-and-silver');
    const legend = await legendOf(page);
    expect(complaints).toEqual([]);
    await close();

    const fresh = await openPage(browser, program.url);
    await fresh.page.goto(link);
    await fresh.page.locator('.legend.compared').getByText('EUR/T.oz').waitFor();
    expect(await legendOf(fresh.page)).toEqual(legend);
    expect(await fresh.page.getByRole('button', { name: '5Y' }).getAttribute('aria-pressed')).toBe('true');
    expect(fresh.complaints).toEqual([]);
    await fresh.close();
  });

  test('the focus comes back from a menu and from the search', async () => {
    const { page, close } = await openPage(browser, program.url);
    await page.goto(`${program.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    await tabTo(page, 'Download');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('CSV');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('Download');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a symbol' }).waitFor();
    await page.keyboard.type('crude');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Download');
    await close();
  });

  test('a link is copied also where browsers have no clipboard for scripts, as over plain HTTP', async () => {
    const { page, complaints, close } = await openPage(browser, program.url);
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.goto(`${program.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    await tabTo(page, 'Copy link');
    await page.keyboard.press('Enter');
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await focused(page)).toBe('Copied');
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: 'Find a symbol' });
    await field.waitFor();
    await page.keyboard.press('Control+v');
    expect(await field.inputValue()).toContain('#/symbol/XAU');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a name and Enter may be typed before the symbols are loaded', async () => {
    const { page, close } = await openPage(browser, program.url);
    await page.goto(`${program.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    const market = await hold(page, /\/market\?/);
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Find a symbol' }).waitFor();
    await page.keyboard.type('silver');
    await page.keyboard.press('Enter');
    expect(await page.getByText('Nothing matches').count()).toBe(0);
    market.release();
    await page.getByRole('heading', { name: 'Silver XAG' }).waitFor();
    await close();
  });

  test('what is typed before the search is shown ends up in its field', async () => {
    const { page, complaints, close } = await openPage(browser, program.url);
    await page.goto(`${program.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    const code = await hold(page, /\.js$/);
    await page.keyboard.press('/');
    await page.keyboard.type('XAU/XAG*x');
    await page.keyboard.press('Backspace');
    code.release();
    const field = page.getByRole('combobox', { name: 'Find a symbol' });
    await field.waitFor();
    expect(await field.inputValue()).toBe('XAU/XAG*');
    await page.keyboard.type('2');
    expect(await field.inputValue()).toBe('XAU/XAG*2');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a name and Enter may be typed before the search is shown', async () => {
    const { page, close } = await openPage(browser, program.url);
    await page.goto(program.url);
    await page.locator('.live.on').waitFor();
    const code = await hold(page, /\.js$/);
    await page.keyboard.press('/');
    await page.keyboard.type('silver');
    await page.keyboard.press('Enter');
    code.release();
    await page.getByRole('heading', { name: 'Silver XAG' }).waitFor();
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: 'Find a symbol' });
    await field.waitFor();
    expect(await field.inputValue()).toBe('');
    await close();
  });

  test('a name and Enter may be typed before the code of the search is loaded', async () => {
    const { page, close } = await openPage(browser, program.url);
    await page.goto(program.url);
    await page.locator('.live.on').waitFor();
    const field = page.getByRole('combobox', { name: 'Find a symbol' });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\.js$/, async (route) => {
      if ((await field.count()) > 0) await released;
      await route.continue();
    });
    await page.keyboard.press('/');
    await field.waitFor();
    await page.keyboard.type('silver');
    await page.keyboard.press('Enter');
    release();
    await page.getByRole('heading', { name: 'Silver XAG' }).waitFor();
    await close();
  });

  test('a link moves the focus to the new page, and one within a page keeps it', async () => {
    const { page, complaints, close } = await openPage(browser, program.url);
    const focusedId = () => page.evaluate('document.activeElement.id');
    await page.goto(program.url);
    await page.locator('.live.on').waitFor();
    while (!(await page.evaluate(`document.activeElement.matches('.quotes a')`)))
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.legend-day').waitFor();
    await eventually(async () => (await focusedId()) === 'content');
    await tabTo(page, 'Docs');
    await page.keyboard.press('Enter');
    await page.getByText('quota_exhausted').first().waitFor();
    await eventually(async () => (await focusedId()) === 'content');
    await tabTo(page, 'Units: unit');
    await page.keyboard.press('Enter');
    await eventually(async () => page.url().endsWith('#/docs/unit'));
    expect(await focused(page)).toBe('Units: unit');
    expect(complaints).toEqual([]);
    await close();
  });
});

/** The names of what the chart shows. Its prices move. */
async function legendOf(page: Page): Promise<string[]> {
  return page.locator('.legend-name, .legend .muted, .legend-interval').allTextContents();
}

/** Presses Tab until the control with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach “${name}”`);
}

function focused(page: Page): Promise<string> {
  return page.evaluate(
    `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()`,
  ) as Promise<string>;
}
