import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage, WIDTHS } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('the account page', (browser) => {
  let service: TestService;
  let key: string;
  let stopClock = () => {};
  beforeAll(async () => {
    service = await openTestService('sqlite', { now: Date.now() });
    key = await service.key('pro');
    for (let i = 0; i < 30; i++) await service.get('/symbols', key);
    await service.core.keyUses.flush();
    // The burst limit is by second, and the clock of the test stands still.
    const ticking = setInterval(() => {
      service.clock.time += 1_000;
    }, 1_000);
    stopClock = () => clearInterval(ticking);
  });
  afterAll(async () => {
    stopClock();
    await service?.close();
  });

  test('a key is created with a name and rules, and they can be changed', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#key=${key}`);
    await page.goto(`${service.url}/#/account`);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('website');
    await page.getByLabel('Expires after').fill('2099-12-31');
    await page.getByLabel('Only from these addresses').fill('203.0.113.0/24');
    await page.getByLabel('Refuse it in URLs').check();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('Your new key, shown only once').waitFor();
    const row = page.locator('tbody tr').filter({ hasText: 'website' });
    await row.getByText('31 Dec 2099').waitFor();
    await row.getByText('header only; from 203.0.113.0/24').waitFor();
    await row.getByText('none lately').waitFor();
    await row.getByRole('button', { name: /^Change key_/ }).click();
    await page.getByLabel('Name', { exact: true }).fill('shop');
    await page.getByLabel('Only from these addresses').fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const renamed = page.locator('tbody tr').filter({ hasText: 'shop' });
    await renamed.getByText('header only', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  test('after the key of the page is revoked, a new one stays on the screen, and the page asks for another', async () => {
    const { page, shot, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#key=${await service.key('pro')}`);
    await page.goto(`${service.url}/#/account`);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const issued = page.locator('.new-key');
    await issued.waitFor();
    const own = page.locator('tbody tr').filter({ hasText: 'this one' });
    await own.getByRole('button', { name: /^Revoke key_/ }).click();
    await own.getByRole('button', { name: /^Revoke for good/ }).click();
    await page.getByLabel('Use another key').waitFor();
    const next = (await issued.textContent())!;
    await shot('account-revoked', true);
    await page.getByLabel('Use another key').fill(next);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.locator('tr').filter({ hasText: 'this one' }).waitFor();
    expect(await page.getByLabel('Use another key').count()).toBe(0);
    await close();
  });

  test('keys of the same name are told apart, and screen readers get the numbers as a table', async () => {
    const owner = await service.key('pro');
    const uses = (key: string, count: number) => ({ date: today(), key, endpoint: 'latest', count });
    const { page, close } = await openPage(browser, service.url);
    await page.route('**/usage/daily', async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, byKey: [uses('key_a', 30), uses('key_b', 12)] } });
    });
    await page.route('**/account/keys', async (route) => {
      const { keys } = (await (await route.fetch()).json()) as { keys: object[] };
      const named = (id: string) => ({ ...keys[0], id, name: 'shop' });
      await route.fulfill({ json: { success: true, keys: [named('key_a'), named('key_b')] } });
    });
    await page.goto(`${service.url}/#key=${owner}`);
    await page.goto(`${service.url}/#/account`);
    await page.getByRole('button', { name: 'By key' }).click();
    await page.locator('.swatches').getByText('shop (key_a) 30').waitFor();
    await page.locator('.swatches').getByText('shop (key_b) 12').waitFor();
    expect(await page.locator('.usage-chart rect').count()).toBe(2);
    const rows = page.getByRole('table', { name: 'Units by day' }).getByRole('row');
    expect(await rows.allTextContents()).toEqual([
      'Dayshop (key_a)shop (key_b)All',
      expect.stringMatching(/301242$/),
    ]);
    await close();
  });

  test('the labels of the usage chart fit on a phone, however many units a day has', async () => {
    const { page, close } = await openPage(browser, service.url, { viewport: { width: 375, height: 760 } });
    let count = 0;
    await page.route('**/usage/daily', async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: { ...answer, days: [{ date: today(), endpoint: 'latest', count }] } });
    });
    await page.goto(`${service.url}/#key=${key}`);
    for (const units of [15, 40_000, 99_999, 3_800_000]) {
      count = units;
      await page.goto(`${service.url}/#/account`);
      await page.reload();
      await page
        .locator('.swatches')
        .getByText(`latest ${units.toLocaleString('en-US')}`)
        .waitFor();
      const cutOff = await page.locator('.usage-chart text').evaluateAll((labels) =>
        labels
          .filter((label) => {
            const [own, chart] = [label, label.closest('svg')!].map((one) => one.getBoundingClientRect());
            return own!.left < chart!.left || own!.right > chart!.right;
          })
          .map((label) => label.textContent),
      );
      expect(cutOff, `${units}`).toEqual([]);
    }
    await close();
  });

  test('counts that a replica had not reported are read again', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    let reads = 0;
    await page.route('**/usage/daily', async (route) => {
      const answer = (await (await route.fetch()).json()) as object;
      const older = { ...answer, days: [], exact: false, asOf: Math.floor(Date.now() / 1000) - 60 };
      await route.fulfill({ json: reads++ === 0 ? older : answer });
    });
    await page.goto(`${service.url}/#key=${key}`);
    await page.goto(`${service.url}/#/account`);
    await page.getByText('The newest requests are not counted yet').waitFor();
    await page.locator('.usage-chart rect').first().waitFor();
    await page.getByText('The newest requests are not counted yet').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
    await close();
  });

  test('usage is shown by endpoint and by key, with a projection and the limits in words', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#key=${key}`);
    await page.goto(`${service.url}/#/account`);
    await page.getByText('At the pace of the last week, usage will reach').waitFor();
    await page.getByText('Prices as they arrive').or(page.getByText('old, or older')).first().waitFor();
    await page.getByText('symbols 30').waitFor();
    await page.getByRole('button', { name: 'By key' }).click();
    await page.getByRole('heading', { name: 'Usage by day and key' }).waitFor();
    await page
      .locator('.swatches')
      .getByText(/key_\w+ 30/)
      .waitFor();
    await close();
  });

  test('a plan without a quota has no share of it, and says so', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.evaluate(`sessionStorage.setItem('openpit.key', '${await service.key('unlimited')}')`);
    await page.goto(`${service.url}/#/account`);
    await page.reload();
    await page.getByText('There is no limit. The count resets on').waitFor();
    await page.getByText('Unlimited units per month.').waitFor();
    expect(await page.getByText('of unlimited').count()).toBe(0);
    expect(await page.getByText('At the pace of the last week').count()).toBe(0); // nothing was used
    await close();
  });

  test('a key is remembered only on request, survives a new tab, and is forgotten everywhere', async () => {
    const context = await (await browser()).newContext();
    const page = await context.newPage();
    await page.goto(`${service.url}/#/account`);
    await page.locator('#secret-key').fill(key);
    expect(await page.getByLabel('Remember it in this browser').isChecked()).toBe(false);
    await page.getByLabel('Remember it in this browser').check();
    await page.getByText('Do not use this on a shared computer').waitFor();
    await page.locator('#secret-key').press('Enter');
    await page.getByText('This month').waitFor();
    const other = await context.newPage();
    await other.goto(`${service.url}/#/account`);
    await other.getByText('This month').waitFor();
    await other.getByRole('button', { name: 'Forget this key' }).click();
    await other.getByText('Your API key').waitFor();
    expect(await other.evaluate('JSON.stringify({ ...localStorage })')).not.toContain('pit_live_');
    await page.getByText('Your API key').waitFor(); // also in the tab that it was entered in
    const third = await context.newPage();
    await third.goto(`${service.url}/#/account`);
    await third.getByText('Your API key').waitFor();
    await context.close();
  });

  test('a remembered key that is rotated in one tab is replaced in the others, and a key of their own is not', async () => {
    const context = await (await browser()).newContext();
    const [first, second, own] = [await context.newPage(), await context.newPage(), await context.newPage()];
    const ownKey = await service.key('basic');
    await own.goto(`${service.url}/#key=${ownKey}`);
    await first.goto(`${service.url}/#/account`);
    await first.locator('#secret-key').fill(await service.key('pro'));
    await first.getByLabel('Remember it in this browser').check();
    await first.locator('#secret-key').press('Enter');
    await first.getByText('this one').waitFor();
    await second.goto(`${service.url}/#/account`);
    await own.goto(`${service.url}/#/account`);
    await second.getByText('this one').waitFor();
    await second.getByRole('button', { name: /^Rotate key_/ }).click();
    await second.getByRole('button', { name: /^Rotate now key_/ }).click();
    const text = await second.locator('.new-key').innerText();
    const shown = `${text.slice(0, 9)}…${text.slice(-4)}`;
    await first.locator('.lead').getByText(shown).waitFor();
    await first.getByText('this one').waitFor();
    await own.locator('.lead').getByText(ownKey.slice(-4)).waitFor();
    expect(await own.getByLabel('Remember it in this browser').isChecked()).toBe(false);
    await context.close();
  });

  test('colours that are chosen in one tab are those of the others', async () => {
    const context = await (await browser()).newContext({ colorScheme: 'light' });
    const [first, second] = [await context.newPage(), await context.newPage()];
    for (const page of [first, second]) {
      await page.goto(service.url);
      await page.getByRole('button', { name: 'Switch to dark colours' }).waitFor();
    }
    await first.getByRole('button', { name: 'Switch to dark colours' }).click();
    await second.getByRole('button', { name: 'Switch to light colours' }).waitFor();
    await context.close();
  });

  for (const { name, ...options } of WIDTHS) {
    test(`the page is accessible and fits the screen, ${name}`, async () => {
      const { page, complaints, shot, close } = await openPage(browser, service.url, options);
      await page.goto(`${service.url}/#key=${key}`);
      await page.goto(`${service.url}/#/account`);
      await page.locator('.usage-chart rect').first().waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      await shot(`${name}-account`, true);
      expect(complaints).toEqual([]);
      await close();
    });
  }
});

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
