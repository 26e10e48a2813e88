import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Route } from 'playwright-core';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { OPERATOR_TOKEN, openPage, signInAsOperator } from './browser.ts';
import { inBrowser } from './in-browser.ts';

/** The request that fills each page, the shape that stands there until then, and a text of the filled page. */
const PAGES = [
  { page: '', path: '/market', shape: 'market', ready: 'symbol with prices' },
  { page: 'symbol/XAU', path: '/market', shape: 'chart', ready: 'US Dollar per troy ounce' },
  { page: 'account', path: '/usage', shape: 'cards', ready: 'Usage by day and endpoint' },
  { page: 'operator', path: '/admin/replicas', shape: 'cards', ready: 'Replicas' },
  { page: 'operator/customers', path: '/admin/plans', shape: 'table', ready: 'Units per month' },
  { page: 'docs/reference', path: '/openapi.json', shape: 'table', ready: 'Find an endpoint' },
] as const;

const BROKEN = {
  status: 500,
  contentType: 'application/json',
  body: JSON.stringify({ success: false, message: 'broken on purpose', statusCode: '500', code: 'internal' }),
};

inBrowser('a page on a slow network', (browser) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await openTestService('sqlite', { settings: { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN } });
    await service.publish('XAU', { '2024-05-13': 2_340, '2024-05-14': 2_350 });
    key = await service.key();
  });
  afterAll(() => service?.close());

  for (const { page: name, path, shape, ready } of PAGES) {
    test(`#/${name} shows the shape of its content until ${path} responds, and an error that can be retried if it fails`, async () => {
      const { page, close } = await openPage(browser, service.url);
      await signInAsOperator(page);
      await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
      const held: Route[] = [];
      let network: 'slow' | 'broken' | 'good' = 'slow';
      await page.route(
        (url) => url.pathname === path,
        async (route) => {
          if (network === 'slow') held.push(route);
          else if (network === 'broken') await route.fulfill(BROKEN);
          else await route.continue();
        },
      );
      await page.goto(`${service.url}/#/${name}`);
      await page.locator(`.loading.as-${shape}`).first().waitFor();
      await eventually(async () => held.length > 0);
      expect(await seriousFindings(page)).toEqual([]);
      network = 'broken';
      for (const route of held) await route.fulfill(BROKEN);
      await page.getByText('broken on purpose').first().waitFor();
      expect(await page.getByText(ready).count()).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
      network = 'good';
      const retry = page.getByRole('button', { name: 'Try again' });
      for (let left = await retry.count(); left > 0; left--) await retry.first().click();
      await page.getByText(ready).or(page.getByPlaceholder(ready)).first().waitFor();
      await retry.first().waitFor({ state: 'detached' });
      await close();
    });
  }

  test('an error stays on the screen while the page asks again by itself, and goes away with the first answer', async () => {
    const { page, close } = await openPage(browser, service.url);
    await signInAsOperator(page);
    const held: Route[] = [];
    let isSlow = false;
    await page.route('**/admin/replicas', async (route) => {
      if (isSlow) held.push(route);
      else await route.fulfill(BROKEN);
    });
    await page.goto(`${service.url}/#/operator`);
    await page.getByText('broken on purpose').waitFor();
    isSlow = true;
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await eventually(async () => held.length > 0);
    expect(await page.getByText('broken on purpose').count()).toBe(1);
    expect(await page.locator('.loading').count()).toBe(0);
    for (const route of held) await route.continue();
    await page.getByRole('heading', { name: 'Replicas' }).waitFor();
    expect(await page.getByText('broken on purpose').count()).toBe(0);
    await close();
  });
});
