import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { OPERATOR_TOKEN, openOperatorPage, type WatchedPage, WIDTHS } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const SECTIONS = ['', 'feeds', 'prices', 'customers', 'audit', 'maintenance'];
const GOLD = 'date,close\n2024-05-06,2323.9\n2024-05-07,2314.2\n2024-05-08,oops\n2024-05-09,2346.1\n';

inBrowser('the operator’s tools', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    service = await openTestService('sqlite', { settings: { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN } });
    const key = await service.key();
    for (let minute = 0; minute < 30; minute++) {
      for (let i = 0; i < 1 + (minute % 5); i++) await service.get('/account', key);
      if (minute % 7 === 0) await service.get('/rates/latest?symbols=NOPE', key);
      service.core.api.traffic.sample();
      service.clock.time += 60_000;
    }
  });
  afterAll(() => service?.close());

  const open = (section: string, options: object = {}): Promise<WatchedPage> =>
    openOperatorPage(browser, service.url, section, options, 'Ada');
  const preview = async (page: Page, name: string, content: string, symbol: string) => {
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
    await page.getByLabel('Symbol of all rows').fill(symbol);
    await page.getByRole('button', { name: 'Preview' }).click();
  };
  const closeOn = async (date: string) => {
    await service.core.follow();
    const answer = await service.get(`/rates/historical?symbols=XAU&date=${date}`, await service.key());
    return ((await answer.json()) as { rates?: { XAU: { close: number } } }).rates?.XAU.close;
  };

  test('a file is previewed, imported on confirmation, and undone', async () => {
    const { page, complaints, shot, close } = await open('prices');
    await preview(page, 'gold.csv', GOLD, 'xau');
    await page.getByText('Nothing has been written yet').waitFor();
    await page.getByText('line 4:').waitFor();
    expect(await closeOn('2024-05-09')).toBeUndefined();
    expect(await seriousFindings(page)).toEqual([]);
    await shot('light-operator-preview', true);
    await page.getByRole('button', { name: 'Import 3 prices' }).click();
    await page.getByRole('button', { name: 'Yes, import 3 prices' }).click();
    await page.getByText('Import 1 is done').waitFor();
    expect(await closeOn('2024-05-09')).toBe(2346.1);
    await page.getByRole('button', { name: 'Undo this import' }).click();
    await page.getByText('Import 1 is undone: 3 days withdrawn').waitFor();
    expect(await closeOn('2024-05-09')).toBeUndefined();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a file that cannot be read says why, and the missing rule can be given', async () => {
    const { page, close } = await open('prices');
    await preview(page, 'dates.csv', 'date,close\n03/04/2024,2300\n05/04/2024,2310\n', 'XAU');
    await page.getByText('may be day/month or month/day').waitFor();
    await page.getByText('How to read an ambiguous file').click();
    await page.getByLabel('Dates such as 03/04/2026').selectOption('dmy');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('row', { name: '3 Apr 2024' }).waitFor();
    await close();
  });

  /** A correction of gold from 2336 to 2340, without its reason. */
  const fillInCorrection = async () => {
    await service.publish('XAU', { '2024-05-13': 2336 });
    const { page, close } = await open('prices');
    const form = page.locator('section').filter({ hasText: 'Correct or withdraw a day' });
    await form.getByLabel('Symbol').fill('XAU');
    await form.getByLabel('Day', { exact: true }).fill('2024-05-13');
    await form.getByLabel('Close').fill('2340');
    return { form, close };
  };

  test('a day is corrected and withdrawn after a confirmation, and both are undone', async () => {
    const { form, close } = await fillInCorrection();
    await form.getByLabel('Reason').fill('typing error');
    await form.getByRole('button', { name: 'Correct XAU' }).click();
    await form.getByRole('button', { name: 'Correct it XAU' }).click();
    await form.getByText('XAU on 2024-05-13 is corrected').waitFor();
    expect(await closeOn('2024-05-13')).toBe(2340);
    await form.getByRole('button', { name: 'Undo' }).click();
    await form.getByText('Undone: 1 day of XAU').waitFor();
    expect(await closeOn('2024-05-13')).toBe(2336);
    await form.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await form.getByRole('button', { name: 'Withdraw XAU' }).click();
    await form.getByRole('button', { name: 'Withdraw it XAU' }).click();
    await form.getByText('1 day of XAU withdrawn').waitFor();
    expect(await closeOn('2024-05-13')).toBeUndefined();
    await form.getByRole('button', { name: 'Undo' }).click();
    await form.getByText('Undone: 1 day of XAU').waitFor();
    expect(await closeOn('2024-05-13')).toBe(2336);
    await close();
  });

  test('the undo of a correction names its reason, which may be as long as the field takes', async () => {
    const { form, close } = await fillInCorrection();
    await form.getByLabel('Reason').pressSequentially('long '.repeat(99));
    const reason = (await form.getByLabel('Reason').inputValue()).trim();
    await form.getByRole('button', { name: 'Correct XAU' }).click();
    await form.getByRole('button', { name: 'Correct it XAU' }).click();
    await form.getByText('XAU on 2024-05-13 is corrected').waitFor();
    await form.getByLabel('Reason').fill('that of the next correction');
    await form.getByRole('button', { name: 'Undo' }).click();
    await form.getByText('Undone: 1 day of XAU').waitFor();
    const [last] = await service.ledger.audit.list({ limit: 1 });
    expect(last!.details).toMatchObject({ reason: `undone: ${reason}` });
    await close();
  });

  test('a plan is deleted and restored, and the audit log says who did it', async () => {
    const { page, close } = await open('customers');
    await service.ledger.plans.change({ ...(await service.ledger.plans.list())[0]!, name: 'trial' }, {});
    await page.reload();
    await page.getByRole('button', { name: 'Delete trial' }).click();
    await page.getByRole('button', { name: 'Delete the plan trial' }).click();
    await page.getByText('The plan trial is deleted.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Change the plan trial' }).waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    const row = page.locator('tbody tr').filter({ hasText: 'plan.delete' });
    await row.getByText('trial').first().waitFor();
    await row.getByText('Ada').waitFor();
    await row.getByText('on this page').waitFor();
    await page.getByLabel('Search the audit log').fill('nothing like it');
    await page.getByText('No entry matches.').waitFor();
    await close();
  });

  test('doctor, backup, check and webhook secret work from the page', async () => {
    const { page, complaints, close } = await open('maintenance');
    await page.getByRole('button', { name: 'Examine now' }).click();
    await page.getByText(/\d+ checks found nothing wrong/).click();
    await page.getByText('ledger.schema').waitFor();
    await page.getByRole('button', { name: 'Back up now' }).click();
    await page
      .getByText(/openpit-\d{8}T\d{6}Z\.db/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('All counts add up.').waitFor();
    await page.getByRole('button', { name: 'Show the webhook secret' }).click();
    await page.getByRole('button', { name: 'Show it on the screen' }).click();
    await page.getByText(/^whsec_/).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('at the width of a tablet, tables stay inside their cards, and no code is broken into letters', async () => {
    const { page, shot, close } = await open('customers', { viewport: { width: 768, height: 1024 } });
    const misfits = () =>
      page.evaluate(`[...document.querySelectorAll('table.stack')].flatMap((table) => {
        const card = table.closest('.card').getBoundingClientRect();
        const names = [...table.querySelectorAll('th[scope="row"]')].filter((name) => /^\\w{2,10}$/.test(name.textContent));
        const lineOf = (name) => { const range = document.createRange(); range.selectNodeContents(name); return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size; };
        return [
          ...(table.getBoundingClientRect().right > card.right - 16 ? [table.innerText] : []),
          ...names.filter((name) => lineOf(name) > 1).map((name) => name.textContent),
        ];
      })`);
    await page.getByRole('rowheader', { name: 'unlimited' }).waitFor();
    expect(await misfits()).toEqual([]);
    await shot('operator-customers-768');
    await page.goto(`${service.url}/#/operator/prices`);
    await page.getByRole('rowheader', { name: 'GOLDSILVER' }).waitFor();
    expect(await misfits()).toEqual([]);
    await shot('operator-prices-768', true);
    await close();
  });

  test('a new symbol can be defined with the keyboard alone', async () => {
    const { page, close } = await open('prices');
    await page.getByRole('button', { name: 'New symbol' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Code', { exact: true }).focus();
    for (const text of ['test-oil', 'Test Oil', 'Energy', '', '', '', 'bbl', 'Barrel']) {
      if (text !== '') await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByLabel('Search symbols').fill('TEST-OIL');
    await page.getByRole('link', { name: 'TEST-OIL' }).waitFor();
    expect((await service.ledger.symbols.list()).find(({ code }) => code === 'TEST-OIL')).toMatchObject({
      name: 'Test Oil',
      unit: { symbol: 'bbl' },
    });
    await close();
  });

  for (const { name, ...options } of WIDTHS) {
    test(`every part is accessible and fits the screen, ${name}`, async () => {
      const { page, complaints, shot, close } = await open('', options);
      await page.getByText('Requests a minute').waitFor();
      for (const section of SECTIONS) {
        await page.goto(`${service.url}/#/operator/${section}`);
        await page.locator('.tabs a[aria-current]').waitFor();
        await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        expect(await seriousFindings(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
        await shot(`${name}-operator-${section || 'overview'}`, true);
      }
      expect(complaints).toEqual([]);
      await close();
    });
  }
});
