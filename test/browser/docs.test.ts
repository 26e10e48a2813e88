import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { openPage, WIDTHS } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('the documentation', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    service = await openTestService('sqlite');
  });
  afterAll(() => service?.close());

  test('a link to a section opens at it, and the contents lead to every section', async () => {
    const { page, complaints, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/docs/revisions`);
    const heading = page.getByRole('heading', { name: 'Revisions' });
    await heading.waitFor();
    await page.waitForFunction('scrollY > 500');
    expect((await heading.boundingBox())!.y).toBeWithin(0, 300);
    for (const name of ['Currencies: quote', 'The past as it was known: asOf', 'Live prices: streams']) {
      await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name }).click();
      await page.getByRole('heading', { name }).waitFor();
    }
    expect(complaints).toEqual([]);
    await close();
  });

  test('examples are in the chosen language and copy with the reader’s key, which the screen masks', async () => {
    const key = await service.key();
    const { page, close } = await openPage(browser, service.url, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${service.url}/#key=${key}`);
    await page.waitForURL((url) => !url.hash.startsWith('#key=')); // taking the key changes the address, too
    await page.goto(`${service.url}/#/docs`);
    await page.getByRole('button', { name: 'Python' }).click();
    await page.getByText('import requests').first().waitFor();
    await page.getByRole('button', { name: 'Copy: The latest rates' }).click();
    await page.getByText('Copied').waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).toContain(key);
    expect(copied).toContain('requests.get(');
    expect(await page.locator('main').innerText()).not.toContain(key);
    await close();
  });

  for (const { name, ...options } of WIDTHS) {
    test(`the page is accessible and fits the screen, ${name}`, async () => {
      const { page, complaints, shot, close } = await openPage(browser, service.url, options);
      await page.goto(`${service.url}/#/docs`);
      await page.getByText('quota_exhausted').first().waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      await shot(`${name}-docs`);
      expect(complaints).toEqual([]);
      await close();
    });
  }
});
