import { afterAll, beforeAll, expect, test } from 'bun:test';
import { demoFolder } from '../support/database/demo-folder.ts';
import { Program } from '../support/program.ts';
import { seriousFindings } from './axe.ts';
import { OPERATOR_TOKEN, openPage, WIDTHS } from './browser.ts';
import { inBrowser } from './in-browser.ts';

/** A stream does not end, and the quotes need the header of an earlier response. */
const NOT_ALONE = new Set(['/rates/stream', '/market/quotes']);

inBrowser('the API reference', (browser) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.start({
      OPENPIT_DATA_DIR: await demoFolder(),
      OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN,
    });
  });
  afterAll(() => program?.end());

  const openReference = async (rest = '', options = {}) => {
    const watched = await openPage(browser, program.url, options);
    await watched.page.goto(`${program.url}/#/docs/reference${rest}`);
    await watched.page.getByRole('heading', { name: '/rates/latest' }).waitFor();
    return watched;
  };

  for (const { name, ...options } of WIDTHS) {
    test(`is part of the page: its header, search and theme, accessible and fitting the screen, ${name}`, async () => {
      const { page, complaints, shot, close } = await openReference('', options);
      await page.getByRole('heading', { name: 'API reference' }).waitFor();
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Market' }).waitFor();
      await page.getByRole('heading', { name: '/rates/history' }).click();
      await page.getByText('Minutes are kept for a time').waitFor();
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(options.colorScheme);
      const background = String(
        await page.evaluate('getComputedStyle(document.querySelector(".operation")).backgroundColor'),
      );
      expect(background).toBe(options.colorScheme === 'dark' ? 'rgb(24, 31, 28)' : 'rgb(255, 255, 255)');
      const filters = `[...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).filter !== 'none').length`;
      expect(await page.evaluate(filters)).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      await shot(`${name}-reference`);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find a symbol' }).waitFor();
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test('lists every operation of the OpenAPI document', async () => {
    const { paths } = (await (await program.get('/openapi.json', '')).json()) as { paths: object };
    const operations = Object.values(paths).flatMap((methods) => Object.keys(methods));
    const { page, close } = await openReference();
    expect(await page.locator('details.operation').count()).toBe(operations.length);
    await close();
  });

  test('sends a request with the page’s key and the entered values', async () => {
    const { page, complaints, close } = await openReference('/getRatesLatest');
    await page.getByLabel('Value of symbols').fill('XAG');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.answer .badge.good', { hasText: '200' }).waitFor();
    expect(await page.locator('.answer pre').innerText()).toContain('"XAG":');
    await page.getByLabel('Value of symbols').fill('NOPE');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.answer .badge.bad', { hasText: '404' }).waitFor();
    expect(complaints).toEqual([expect.stringContaining('404')]); // Chromium reports the refusal that was asked for
    await close();
  });

  test('every GET of the rates can be sent as it is shown, without an error', async () => {
    const { page, close } = await openReference();
    const rows = page.locator('[id="docs-reference/rates"] details.operation');
    for (const row of await rows.all()) {
      const path = await row.getByRole('heading').innerText();
      if (NOT_ALONE.has(path)) continue;
      await row.locator('summary').click();
      await row.getByRole('button', { name: 'Send' }).click();
      await row.locator('.answer .badge').waitFor();
      expect(await row.locator('.answer .badge').innerText(), path).toBe('200');
    }
    await close();
  });

  test('a change is confirmed before it is sent, and needs the admin token where it is the operator’s', async () => {
    const { page, close } = await openReference('/putAdminPlansId');
    await page.getByText('Enter a value for id.').waitFor();
    await page.getByLabel('Value of id').fill('from-the-reference');
    await page.getByText('This needs the admin token.').waitFor();
    await page.evaluate(`sessionStorage.setItem('openpit.admin', '${OPERATOR_TOKEN}')`);
    await page.reload();
    await page.getByLabel('Value of id').fill('from-the-reference');
    await page.getByRole('button', { name: 'Send PUT' }).click();
    expect(await page.locator('.answer').count()).toBe(0);
    await page.getByRole('button', { name: 'Send now: PUT' }).click();
    await page.locator('.answer .badge.good').waitFor();
    expect(await page.locator('.answer pre').innerText()).toContain('from-the-reference');
    await close();
  });

  test('a request that was lost is sent again without asking only if it changes nothing', async () => {
    const { page, close } = await openReference('/postAdminAccounts');
    await page.evaluate(`sessionStorage.setItem('openpit.admin', '${OPERATOR_TOKEN}')`);
    await page.reload();
    const posts: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()));
    const send = async () => {
      await page.getByRole('button', { name: 'Send POST' }).click();
      await page.getByRole('button', { name: 'Send now: POST' }).click();
    };
    await send();
    await page.locator('.answer').waitFor();
    await page.context().setOffline(true);
    await send();
    await page.getByText('No connection to the service').waitFor();
    await page.getByText('The request may have been carried out all the same.').waitFor();
    expect(await page.locator('.answer').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(posts).toHaveLength(2);
    await page.goto(`${program.url}/#/docs/reference/getRatesLatest`);
    const latest = page.locator('details.operation[open]').filter({ hasText: '/rates/latest' });
    await latest.getByRole('button', { name: 'Send' }).click();
    await latest.getByText('No connection to the service').waitFor();
    await page.context().setOffline(false);
    await latest.getByRole('button', { name: 'Try again' }).click();
    await latest.locator('.answer .badge.good').waitFor();
    await close();
  });

  test('by keyboard: find an endpoint, open it, send it; the address names it', async () => {
    const { page, close } = await openReference();
    await page.getByLabel('Find an endpoint').focus();
    await page.keyboard.type('fluctuation');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab'); // past the link to the group
    await page.keyboard.press('Enter');
    await page.waitForURL('**/#/docs/reference/getRatesFluctuation');
    while (!(await page.evaluate(`document.activeElement.textContent === 'Send'`)))
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.answer .badge.good').waitFor();
    await page.getByLabel('Find an endpoint').fill('nothing like it');
    await page.getByText('No endpoint matches “nothing like it”.').waitFor();
    await close();
  });

  test('the earlier address leads to it, and a link opens the endpoint that it names', async () => {
    const { page, close } = await openPage(browser, program.url);
    await page.goto(`${program.url}/docs/reference`);
    await page.getByRole('heading', { name: '/rates/latest' }).waitFor();
    await page.goto(`${program.url}/#/docs/reference/getUsage`);
    await page.locator('details.operation[open]').getByRole('heading', { name: '/usage' }).waitFor();
    await close();
  });
});
