import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openTestService, type TestService } from '../support/service.ts';
import { OPERATOR_TOKEN, openPage, signInAsOperator } from './browser.ts';
import { inBrowser } from './in-browser.ts';

/** The smallest phone in use, with its page at its own size. */
const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };

/** As high as a button that is not small. WCAG 2.2 asks for 24 px at least. */
const TOUCHED_MIN_PX = 36;

/** Safari on iOS zooms into a field with a smaller font. */
const FIELD_FONT_MIN_PX = 16;

const PAGES = [
  ['market', '.quotes'],
  ['symbol/XAU?compare=XAG', '.legend-day'],
  ['account', '.usage-chart'],
  ['docs', '.code-box'],
  ['operator', '.time-chart'],
  ['operator/feeds', '.tabs'],
  ['operator/prices', '.file-field'],
  ['operator/customers', '.stack'],
  ['operator/maintenance', '.tabs'],
] as const;

inBrowser('on a phone', (browser) => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    const settings = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN };
    service = await openTestService('sqlite', { settings, now: Date.now() });
    key = await service.key('unlimited');
    await service.publish('XAU', { '2024-05-14': 2_350, '2024-05-15': 2_360 });
    await service.publish('XAG', { '2024-05-14': 28, '2024-05-15': 27 });
    await service.publish('PL', { '2024-05-14': 1_060, '2024-05-15': 1_050 });
    await service.publish('AL-AVG', { '2024-05-01': 123_456_789.123456 });
  });
  afterAll(() => service?.close());

  for (const [address, drawn] of PAGES) {
    test(`buttons and fields of ${address} are large enough, and nothing is beyond the edge`, async () => {
      const { page, close } = await openPage(browser, service.url, PHONE);
      await signInAsOperator(page);
      await page.goto(`${service.url}/#key=${key}`);
      await page.goto(`${service.url}/#/${address}`);
      await page.locator(drawn).first().waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      expect(await page.evaluate(measure, { TOUCHED_MIN_PX, FIELD_FONT_MIN_PX })).toEqual([]);
      expect((await page.locator('header.top').boundingBox())!.height).toBeLessThan(110); // two rows
      await close();
    });
  }

  test('the menus of a chart open inside the page', async () => {
    const { page, close } = await openPage(browser, service.url, PHONE);
    await page.goto(`${service.url}/#key=${key}`);
    await page.goto(`${service.url}/#/symbol/XAU?average=20,50`);
    await page.locator('.legend-day').waitFor();
    for (const name of ['Dates', 'Averages', 'Download']) {
      await page.locator('.menu summary', { hasText: name }).tap();
      const panel = await page.locator('.menu[open] .menu-panel').boundingBox();
      expect(panel!.x, name).toBeGreaterThanOrEqual(0);
      expect(panel!.x + panel!.width, name).toBeLessThanOrEqual(320);
      await page.keyboard.press('Escape');
    }
    await close();
  });

  for (const width of [320, 1_000, 1_600]) {
    test(`a rate of many digits is complete and stands beside the name, ${width} px wide`, async () => {
      const { page, close } = await openPage(browser, service.url, { viewport: { width, height: 640 } });
      await page.goto(`${service.url}/#key=${key}`);
      const row = page.getByRole('row', { name: /AL-AVG/ });
      await row.getByText('123,456,789.123456').waitFor();
      expect(await row.locator('.rate').evaluate((rate) => rate.scrollWidth - rate.clientWidth)).toBe(0);
      const [name, rate] = [await row.locator('th').boundingBox(), await row.locator('.rate').boundingBox()];
      expect(rate!.x).toBeGreaterThanOrEqual(name!.x + name!.width);
      await close();
    });
  }

  test('the name of an account breaks where it does not fit', async () => {
    const response = await fetch(`${service.url}/admin/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Rohstoffhandelsgesellschaftsverwaltung', plan: 'unlimited' }),
    });
    const { apiKey } = (await response.json()) as { apiKey: string };
    const { page, close } = await openPage(browser, service.url, { viewport: PHONE.viewport });
    await page.goto(`${service.url}/#key=${apiKey}`);
    await page.goto(`${service.url}/#/account`);
    await page.getByRole('heading', { name: /^Rohstoff/ }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await close();
  });

  test('the names of statistics break only between words', async () => {
    const { page, close } = await openPage(browser, service.url, PHONE);
    await page.goto(`${service.url}/#key=${key}`);
    await page.goto(`${service.url}/#/symbol/XAU?compare=XAG,PL`);
    await page.getByRole('button', { name: 'Show statistics' }).tap();
    const name = page.getByRole('rowheader', { name: 'Correlation with XAG' });
    const { width } = (await name.boundingBox())!;
    expect(width).toBeGreaterThan(70); // “Correlation” is 75 px wide
    await close();
  });
});

/** What is too small, or beyond the edge of the page. Runs in the page. */
function measure({ TOUCHED_MIN_PX, FIELD_FONT_MIN_PX }: Record<string, number>): string[] {
  const found: string[] = [];
  const controls = 'button, select, summary, nav a, input:not([type="checkbox"])';
  for (const control of document.querySelectorAll<HTMLElement>(
    `header :is(${controls}), main :is(${controls})`,
  )) {
    if (!control.checkVisibility() || control.closest('.visually-hidden')) continue;
    const name = `${control.tagName} ${control.className} ${control.textContent.trim().slice(0, 20)}`;
    const { height, right } = control.getBoundingClientRect();
    const around = getComputedStyle(control, '::before');
    const added = around.position === 'absolute' ? -2 * Number.parseFloat(around.top) : 0;
    if (height + added < TOUCHED_MIN_PX!) found.push(`${name}: ${Math.round(height)} px`);
    if (right > innerWidth) found.push(`${name}: beyond the edge`);
    const isField = control.matches('input, select');
    if (isField && Number.parseFloat(getComputedStyle(control).fontSize) < FIELD_FONT_MIN_PX!)
      found.push(`${name}: small font`);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
  return found;
}
