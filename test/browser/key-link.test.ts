import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { demoFolder } from '../support/database/demo-folder.ts';
import { newFolder } from '../support/ledger.ts';
import { openpit, Program } from '../support/program.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('the link that the program prints', (browser) => {
  let program: Program;
  beforeAll(async () => {
    const settings = { OPENPIT_DATA_DIR: await demoFolder() };
    program = await Program.start(settings);
    const file = join(newFolder(), 'gold.csv');
    await Bun.write(file, 'date,close\n2024-05-14,2358\n');
    expect(await openpit(['import', file, '--symbol', 'XAU'], settings)).toMatchObject({ exitCode: 0 });
  });
  afterAll(() => program?.end());
  const link = () => /Open it: +(\S+)/.exec(program.stdout)![1]!;
  const stored = 'sessionStorage.getItem("openpit.key")';

  test('opens the page with the demo key beside real prices, and the key leaves the address bar', async () => {
    const { page, complaints } = await openPage(browser, program.url, {});
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(link());
    await page.locator('.quotes tbody tr').first().waitFor();
    expect(await page.evaluate(stored)).toBe(program.key);
    expect(page.url()).toBe(`${program.url}/`);
    expect(asked.filter((url) => new URL(url).search.includes('pit_live_'))).toEqual([]);
    expect(complaints).toEqual([]);
    await page.goto(`${program.url}/#/account`);
    await page.getByText('Demo', { exact: false }).first().waitFor();
    expect(await page.evaluate(stored)).toBe(program.key);
  });

  test('is taken when the page has just found that it needs a key, before it draws a frame', async () => {
    const { page } = await openPage(browser, program.url, {});
    // Without frames, and with slow timers, effects run late, as on a busy machine.
    await page.addInitScript(`
      const { setTimeout: after } = window;
      window.requestAnimationFrame = () => 0;
      window.setTimeout = (work, ms, ...more) => after(work, ms > 0 ? ms + 1000 : ms, ...more);
      new MutationObserver((_, observer) => {
        if (!document.querySelector('main .as-lines')) return; // the form that asks for a key is loaded
        observer.disconnect();
        location.hash = ${JSON.stringify(new URL(link()).hash)};
      }).observe(document, { childList: true, subtree: true });`);
    await page.goto(program.url);
    await page.locator('.quotes tbody tr').first().waitFor();
    expect(await page.evaluate(stored)).toBe(program.key);
  });

  test('does not replace a key that the person has given to the tab, and is taken without a reload too', async () => {
    const { page } = await openPage(browser, program.url, {});
    await page.goto(program.url);
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(link()).hash)}`);
    await page.locator('.quotes tbody tr').first().waitFor();
    expect(await page.evaluate(stored)).toBe(program.key);
    for (const hash of [`#key=pit_live_${'A'.repeat(36)}`, '#key=<script>', '#key=']) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await page.waitForFunction('!location.hash.includes("key=")');
      expect(await page.evaluate(stored)).toBe(program.key);
    }
  });
});
