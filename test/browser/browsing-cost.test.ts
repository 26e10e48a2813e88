import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { demoFolder } from '../support/database/demo-folder.ts';
import { openpit, Program } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { OPERATOR_TOKEN, openPage, signInAsOperator } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('browsing', (browser) => {
  /** Records the status of every response. */
  const watchStatuses = (page: Page) => {
    const statuses: number[] = [];
    page.on('response', (response) => statuses.push(response.status()));
    return statuses;
  };

  test('the whole market and four symbols cost the free plan 5 units, and no request is refused', async () => {
    const settings = { OPENPIT_DATA_DIR: await demoFolder() };
    const program = await Program.start(settings);
    const create = ['account', 'create', '--name', 'A', '--plan', 'free', '--json'];
    const { key } = JSON.parse((await openpit(create, settings)).stdout) as { key: string };
    const { page, complaints, close } = await openPage(browser, program.url);
    const statuses = watchStatuses(page);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(program.url);
    await page.getByText('live, 1 h behind').waitFor();
    const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
    for (let y = 0; y < height; y += 600) await page.mouse.wheel(0, 600);
    const links = await page.locator('.quotes tbody tr:has(.sparkline) a').all();
    const hrefs = await Promise.all(links.slice(0, 4).map((link) => link.getAttribute('href')));
    for (const href of hrefs) {
      await page.locator(`.quotes a[href="${href}"]`).click();
      await page.locator('.legend-day').waitFor();
      await page.locator('.big').waitFor();
      await page.goBack();
      await page.locator('.quotes').first().waitFor();
    }
    const usage = await fetch(`${program.url}/usage`, { headers: { 'x-api-key': key } });
    expect(((await usage.json()) as { used: number }).used).toBe(5);
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
    await program.end();
  });

  test('every request is one of openpit-client, and a reload costs nothing while nothing has changed', async () => {
    const service = await openTestService('sqlite', {
      settings: { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN },
      now: Date.now(),
    });
    const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await service.publish('XAU', { [date]: 2_345.5 });
    const key = await service.key('pro');
    const { page, close } = await openPage(browser, service.url);
    const strangers: string[] = [];
    page.on('request', (request) => {
      const id = request.headers()['x-request-id'] ?? '';
      if (request.resourceType() === 'fetch' && !id.startsWith('once-')) strangers.push(request.url());
    });
    const used = async () => ((await (await service.get('/usage', key)).json()) as { used: number }).used;
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await signInAsOperator(page);
    await page.goto(`${service.url}/#/symbol/XAU`);
    await page.locator('.legend-day').waitFor();
    const before = await used();
    expect(before).toBe(2);
    await page.reload();
    await page.locator('.legend-day').waitFor();
    expect(await used()).toBe(before);
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByText('Usage by day and endpoint').waitFor();
    await page.getByRole('link', { name: 'Operator' }).click();
    await page.getByRole('heading', { name: 'Replicas' }).waitFor();
    await page.getByRole('link', { name: 'Docs' }).click();
    await page.getByText('quota_exhausted').first().waitFor();
    expect(strangers).toEqual([]);
    await close();
    await service.close();
  });

  test('a plan for two symbols per request opens more of them one after the other, then the whole market', async () => {
    const service = await openTestService('sqlite', { now: Date.now() });
    await service.setPlan({ name: 'two', maxSymbols: 2 });
    const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const codes = ['XAU', 'XAG', 'PL', 'PA'];
    for (const code of codes) await service.publish(code, { [date]: 1_000 });
    const { page, complaints, close } = await openPage(browser, service.url);
    const statuses = watchStatuses(page);
    await page.goto(`${service.url}/#key=${await service.key('two')}`);
    for (const code of codes) {
      await page.goto(`${service.url}/#/symbol/${code}`);
      await page.locator('h1 .code').getByText(code, { exact: true }).waitFor();
      await page.locator('.legend-day').waitFor();
    }
    await page.getByRole('navigation').getByRole('link', { name: 'Market' }).click();
    await page.getByText('4 symbols with prices').waitFor();
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
    await service.close();
  });

  test('a comparison has as many symbols as the plan allows in one request, and says why it has no more', async () => {
    const service = await openTestService('sqlite', { now: Date.now() });
    await service.setPlan({ name: 'three', maxSymbols: 3 });
    const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    for (const code of ['XAU', 'XAG', 'PL', 'PA']) await service.publish(code, { [date]: 1_000 });
    const { page, complaints, shot, close } = await openPage(browser, service.url);
    const statuses = watchStatuses(page);
    await page.goto(`${service.url}/#key=${await service.key('three')}`);
    await page.goto(`${service.url}/#/symbol/XAU?compare=XAG`);
    await page.locator('.legend.compared').getByText('Silver').waitFor();
    const picker = page.getByRole('combobox', { name: 'Compare with' });
    const found = page.getByRole('listbox', { name: 'Symbols that fit' }).getByRole('option');
    await picker.fill('PL/PA');
    await found.first().click();
    await page.getByText('Left out: PL / PA. The plan “three” allows 3 symbols in one request.').waitFor();
    await picker.fill('PA');
    await found.first().click();
    await page.locator('.legend.compared').getByText('Palladium').waitFor();
    await page.getByText('The plan “three” allows 3 symbols in one request.').waitFor();
    expect(await picker.count()).toBe(0);
    expect(new URL(page.url()).hash).toContain('compare=XAG,PA');
    await shot('compare-plan', true);
    await page.getByRole('button', { name: 'Remove Silver' }).click();
    await picker.waitFor();
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
    await service.close();
  });

  describe('with a public key', () => {
    let service: TestService;
    beforeAll(async () => {
      const settings = { OPENPIT_PUBLIC_PLAN: 'basic' };
      service = await openTestService('sqlite', { settings, now: Date.now() });
      const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      await service.publish('XAU', { [date]: 2_345.5 });
    });
    afterAll(() => service?.close());

    test('an address that sends too many requests sees a message, and prices again once it may', async () => {
      const { given } = (await (await service.get('/console/config')).json()) as { given: { key: string } };
      const latest = '/rates/latest?symbols=XAU';
      while ((await service.get(latest, given.key)).status === 200) service.clock.time += 100;
      const { page, shot, close } = await openPage(browser, service.url);
      await page.goto(service.url);
      await page.getByText('Too many requests', { exact: true }).waitFor();
      await page.getByText('visitors to the page may use').waitFor();
      await shot('browsing-too-many-requests');
      expect(await page.getByText('connection lost').count()).toBe(0);
      service.clock.time += 60_000;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('2,345.50').waitFor();
      await close();
    });
  });

  test('an exhausted quota is shown as such, in the market and on a symbol’s page', async () => {
    const service = await openTestService('sqlite', { now: Date.now() });
    await service.setPlan({ name: 'tiny', quota: 1 });
    const key = await service.key('tiny');
    await service.get('/symbols', key);
    const { page, close } = await openPage(browser, service.url);
    await page.addInitScript(`sessionStorage.setItem('openpit.key', '${key}')`);
    await page.goto(service.url);
    await page.getByText('The quota of this key is used up').waitFor();
    await page.getByText('The quota resets at').waitFor();
    await page.goto(`${service.url}/#/symbol/XAU`);
    await page.getByText('The quota of this key is used up').waitFor();
    await close();
    await service.close();
  });
});
