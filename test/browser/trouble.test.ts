import { expect, test } from 'bun:test';
import { demoFolder } from '../support/database/demo-folder.ts';
import { openpit, Program } from '../support/program.ts';
import { CATALOGUE_SIZE } from '../support/responses/catalogue.ts';
import { openTestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

/** A browser logs every failed request to its console. Any other message comes from our code. */
const ours = (complaints: readonly string[]) =>
  complaints.filter((line) => !/^Failed to load resource|net::ERR_/.test(line));

/** Fills in a token as soon as the page says that the last one does not work, as fast as a password manager. */
const fillWhenRefused = (token: string) => `new MutationObserver((_, observer) => {
  if (!document.body.textContent.includes('This token does not work')) return;
  observer.disconnect();
  const field = document.getElementById('secret-admin');
  field.value = ${JSON.stringify(token)};
  field.dispatchEvent(new Event('input', { bubbles: true }));
}).observe(document.body, { childList: true, subtree: true })`;

inBrowser('the page in trouble', (browser) => {
  test('without a key it asks for one; a wrong key gets an explanation, a right one opens the market, which says that the ledger is empty', async () => {
    const service = await openTestService('sqlite');
    const { page, complaints, shot, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.getByText('Prices on this service need a key.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('API key').fill('pit_live_…JRqx'); // as a page shows it
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('This key does not work').waitFor();
    await shot('trouble-wrong-key');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('API key').fill(await service.key('basic'));
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByText('There are no prices yet.').waitFor();
    await page.getByText('npx openpit sample load', { exact: true }).waitFor(); // it needs no network
    expect(await page.locator('.quotes tbody tr').count()).toBe(CATALOGUE_SIZE);
    await shot('trouble-empty-ledger');
    expect(await seriousFindings(page, '.notice')).toEqual([]); // the tour examines the rows
    await page.getByRole('link', { name: 'Gold XAU', exact: true }).click();
    await page.getByText('No prices yet').waitFor();
    await page.reload(); // the key stays in the tab
    await page.getByText('No prices yet').waitFor();
    await service.publish('XAU', { '2024-05-14': 2_350 });
    service.clock.time += 5_000;
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.locator('.big').getByText('2,350.00').waitFor();
    expect(ours(complaints)).toEqual([]);
    await close();
    await service.close();
  });

  test('a browser that refuses to store anything shows the page, and keeps choices until it is loaded again', async () => {
    const program = await Program.start({ OPENPIT_DATA_DIR: await demoFolder() });
    const { page, complaints, close } = await openPage(browser, program.url);
    await page.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        const get = () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        };
        Object.defineProperty(window, name, { configurable: true, get });
      }
    });
    await page.goto(program.url);
    await page.locator('.live.on').waitFor();
    await page.getByRole('button', { name: 'Switch to dark colours' }).click();
    await page.getByRole('button', { name: 'Switch to light colours' }).waitFor();
    await page.locator('.quotes a').first().click();
    await page.locator('.legend-day').waitFor();
    expect(complaints).toEqual([]);
    await close();
    await program.end();
  });

  test('a wrong admin token gets a message, and a disabled operator’s page says how to enable it', async () => {
    const on = await openTestService('sqlite', {
      settings: { OPENPIT_ADMIN_TOKEN: 'the-right-token-of-it' },
    });
    const first = await openPage(browser, on.url);
    await first.page.goto(`${on.url}/#/operator`);
    await first.page.getByLabel('Admin token').fill('the-wrong…one');
    await first.page.evaluate(fillWhenRefused('the-right-token-of-it'));
    await first.page.getByRole('button', { name: 'Sign in' }).click();
    await first.page.getByText('This token does not work').waitFor();
    await first.page.waitForFunction(`sessionStorage.getItem('openpit.admin') === null`);
    expect(await first.page.getByLabel('Admin token').inputValue()).toBe('the-right-token-of-it');
    await first.page.getByRole('button', { name: 'Sign in' }).click();
    await first.page.getByRole('heading', { name: 'Replicas' }).waitFor();
    await first.page.evaluate(`sessionStorage.setItem('openpit.admin', 'one-that-was-right-last-month')`);
    await first.page.reload();
    await first.page.getByText('This token does not work').waitFor();
    await first.shot('trouble-old-token');
    expect(await seriousFindings(first.page)).toEqual([]);
    expect(ours(first.complaints)).toEqual([]);
    await first.close();
    await on.close();
    const off = await openTestService('sqlite');
    const second = await openPage(browser, off.url);
    await second.page.goto(`${off.url}/#/operator`);
    await second.page.getByText('is disabled').waitFor();
    expect(second.complaints).toEqual([]);
    await second.close();
    await off.close();
  });

  test('a lost connection is shown, the last prices stay, and the page continues by itself when the service is back', async () => {
    const dataDir = await demoFolder();
    const first = await Program.start({ OPENPIT_DATA_DIR: dataDir });
    const { port } = new URL(first.url);
    const { page, complaints, shot, close } = await openPage(browser, first.url);
    await page.goto(first.url);
    await page.locator('.live.on').waitFor();
    await page.locator('.sparkline').first().waitFor({ state: 'attached' });
    await first.end('SIGKILL');
    await page.getByText('connection lost, trying again…').waitFor();
    expect(await page.locator('.sparkline').count()).toBeGreaterThan(5);
    await shot('trouble-lost-connection');
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByText('No connection to the service').waitFor();
    const second = await Program.start({ OPENPIT_DATA_DIR: dataDir, OPENPIT_PORT: port });
    await page.getByText('Usage by day and endpoint').waitFor();
    await page.getByRole('link', { name: 'Market', exact: true }).click();
    await page.locator('.live.on').waitFor();
    expect(ours(complaints)).toEqual([]);
    await close();
    await second.end();
  });

  test('a plan that allows five symbols sees the market all the same, as far as it scrolls', async () => {
    const settings = { OPENPIT_DATA_DIR: await demoFolder() };
    const program = await Program.start(settings);
    const { stdout } = await openpit(
      ['account', 'create', '--name', 'A', '--plan', 'free', '--json'],
      settings,
    );
    const { page, complaints, close } = await openPage(browser, program.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${JSON.parse(stdout).key}')`);
    await page.goto(program.url);
    await page.locator('.sparkline').nth(8).waitFor({ state: 'attached' });
    await page.getByText('live, 1 h behind').waitFor();
    expect(ours(complaints)).toEqual([]);
    await close();
    await program.end();
  });
});
