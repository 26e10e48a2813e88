import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { OPERATOR_TOKEN, openOperatorPage, WIDTHS } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('customers, symbols and decisions on the operator’s page', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    service = await openTestService('sqlite', { settings: { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN } });
  });
  afterAll(() => service?.close());

  const open = (section: string, options: object = {}) =>
    openOperatorPage(browser, service.url, section, options);
  const post = async (path: string, body: object) => {
    const reply = await service.get(path, undefined, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await reply.json()) as Record<string, unknown>;
  };
  const newAccount = async (name: string) => {
    const { account, apiKey } = await post('/admin/accounts', { name, plan: 'basic' });
    return { id: (account as { id: string }).id, key: String(apiKey) };
  };

  for (const [name, width] of [
    ['1440', 1440],
    ['390', 390],
  ] as const) {
    test(`an account is opened in its row, with usage by endpoint and key and its keys, at ${name} px`, async () => {
      const { key } = await newAccount(`Mill ${name}`);
      for (let i = 0; i < 3; i++) await service.get('/symbols', key);
      await service.dailyUsage(key); // makes the meter report its count to the ledger
      await service.core.keyUses.flush();
      const { page, complaints, close } = await open('customers', { viewport: { width, height: 900 } });
      await page.getByRole('button', { name: `Usage and keys of Mill ${name}` }).click();
      const detail = page.locator('tr.detail');
      await detail.getByText('symbols 3').waitFor();
      await detail.getByRole('button', { name: 'By key' }).click();
      await detail.getByText(/key_\w+ 3/).waitFor();
      await detail.getByRole('heading', { name: `Keys of Mill ${name}` }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test('an account without a limit has used units of no number', async () => {
    await post('/admin/accounts', { name: 'Boundless', plan: 'unlimited' });
    const { page, close } = await open('customers');
    const row = page.getByRole('row', { name: /^Boundless/ });
    expect((await row.locator('[data-label="Used this month"]').innerText()).trim()).toBe('0');
    await close();
  });

  test('a name of any length fits the screen', async () => {
    const name = 'Rohstoffhandelsgesellschaft'.repeat(7);
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name, plan: 'basic' });
    await service.get('/admin/accounts', undefined, { method: 'POST', headers, body });
    for (const { viewport } of WIDTHS) {
      const { page, close } = await openOperatorPage(browser, service.url, 'customers', { viewport });
      await page.getByRole('button', { name: `Usage and keys of ${name}` }).click();
      await page.getByText('Usage by day and endpoint').waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, `${viewport.width}`).toBe(0);
      await close();
    }
  });

  test('the operator sets the rules of a customer’s keys', async () => {
    const { id } = await newAccount('Forge');
    const { page, close } = await open('customers');
    await page.getByRole('button', { name: 'Usage and keys of Forge' }).click();
    const detail = page.locator('tr.detail');
    await detail.getByRole('button', { name: 'Create a key' }).click();
    await detail.getByLabel('Name', { exact: true }).fill('kiosk');
    await detail.getByLabel('Only from these addresses').fill('203.0.113.7');
    await detail.getByLabel('Refuse it in URLs').check();
    await detail.getByRole('button', { name: 'Create', exact: true }).click();
    const row = detail.locator('tbody tr').filter({ hasText: 'kiosk' });
    await row.getByText('header only; from 203.0.113.7').waitFor();
    await row.getByRole('button', { name: /^Change key_/ }).click();
    await detail.getByLabel('Only from these addresses').fill('203.0.113.0/24');
    await detail.getByRole('button', { name: 'Save', exact: true }).click();
    await row.getByText('header only; from 203.0.113.0/24').waitFor();
    const key = (await service.ledger.keys.of(id)).find(({ name }) => name === 'kiosk');
    expect(key).toMatchObject({ headerOnly: true, allowedIps: ['203.0.113.0/24'] });
    await close();
  });

  test('a rotated key works for as long as was chosen', async () => {
    const { id } = await newAccount('Smelter');
    const { page, close } = await open('customers');
    await page.getByRole('button', { name: 'Usage and keys of Smelter' }).click();
    await page.getByLabel('How long a rotated key still works').selectOption('an hour');
    await page.getByRole('button', { name: /^Rotate key_/ }).click();
    await page.getByRole('button', { name: /^Rotate now key_/ }).click();
    await page.getByText('Your new key, shown only once').waitFor();
    const [old] = (await service.ledger.keys.of(id)).filter(({ expiresAt }) => expiresAt != null);
    expect(old!.expiresAt).toBe(service.clock.now() + 3_600_000);
    await close();
  });

  test('an account moves to another plan and back, and is deleted after a confirmation', async () => {
    const { id } = await newAccount('Foundry');
    const planNow = async () => (await service.ledger.accounts.find(id))?.plan;
    const { page, close } = await open('customers');
    await page.getByLabel('Plan of Foundry').selectOption('pro');
    await page.getByText('Foundry is on the plan pro now.').waitFor();
    expect(await planNow()).toBe('pro');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Foundry is on the plan pro now.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Usage and keys of Foundry' }).click();
    await page.getByRole('button', { name: 'Delete the account Foundry' }).click();
    await eventually(async () => (await planNow()) === 'basic');
    await page.getByRole('button', { name: 'Delete it with its keys and usage, for good Foundry' }).click();
    await page.getByRole('row', { name: 'Foundry' }).first().waitFor({ state: 'detached' });
    expect(await planNow()).toBeUndefined();
    await close();
  });

  test('every account can be reached, and stays on the screen when it is changed', async () => {
    const settings = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN };
    const crowded = await openTestService('sqlite', { settings });
    for (let i = 1; i <= 401; i++) {
      const account = { id: `acct_${i}`, name: `Mine ${i}`, plan: 'basic', status: 'active' as const };
      await crowded.ledger.accounts.create({ ...account, createdAt: i });
    }
    const { page, close } = await openOperatorPage(browser, crowded.url, 'customers');
    const more = page.getByRole('button', { name: 'Show more accounts' });
    await more.click();
    await page.getByLabel('Plan of Mine 400').waitFor();
    await more.click();
    await more.waitFor({ state: 'detached' });
    await page.getByLabel('Plan of Mine 401').selectOption('pro');
    await page.getByText('Mine 401 is on the plan pro now.').waitFor();
    await page.getByLabel('Plan of Mine 401').waitFor();
    await page.getByLabel('Search accounts').fill('mine');
    await page.getByLabel('Plan of Mine 401').waitFor({ state: 'detached' });
    await more.click();
    await page.getByLabel('Plan of Mine 201').waitFor();
    await close();
    await crowded.close();
  });

  test('a change of a plan, and a new plan, are undone', async () => {
    const quotaOf = async (plan: string) =>
      (await service.ledger.plans.list()).find(({ name }) => name === plan)?.quota;
    const before = await quotaOf('basic');
    const { page, close } = await open('customers');
    await page.getByRole('button', { name: 'Change the plan basic' }).click();
    await page.getByLabel('Units per month').fill('77');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The plan basic is changed.').waitFor();
    expect(await quotaOf('basic')).toBe(77);
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => (await quotaOf('basic')) === before);
    await page.getByRole('button', { name: 'New plan' }).click();
    await page.getByLabel('Name', { exact: true }).fill('trial');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The plan trial is created.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Change the plan trial' }).waitFor({ state: 'detached' });
    expect(await quotaOf('trial')).toBeUndefined();
    await close();
  });

  test('all symbols are downloaded, edited and loaded again after a confirmation', async () => {
    const { page, complaints, close } = await open('prices');
    const nameOfGold = async () =>
      (await service.ledger.symbols.list()).find(({ code }) => code === 'XAU')?.name;
    await page.getByText('Many symbols at once').click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all symbols' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    const symbols = JSON.parse(text) as { code: string; name: string; aliases?: string[] }[];
    const gold = symbols.find(({ code }) => code === 'XAU')!;
    const edited = symbols.map((one) => (one === gold ? { ...one, name: 'Fine gold' } : one));
    const load = (content: string) =>
      page
        .getByLabel('Load a file of symbols')
        .setInputFiles({ name: 'symbols.json', mimeType: 'application/json', buffer: Buffer.from(content) });
    await load('code,name\nXAU,Gold\n');
    await page.getByText('The file is not JSON.').waitFor();
    await load(JSON.stringify([...edited, { ...gold, code: 'DORE', aliases: [] }]));
    await page.getByText(`1 new, ${symbols.length} known already`).waitFor();
    expect(await nameOfGold()).toBe(gold.name);
    await page.getByRole('button', { name: 'Add and change them' }).click();
    await page.getByRole('button', { name: 'Yes, add and change them' }).click();
    await page.getByText(`1 added, 1 changed, ${symbols.length - 1} unchanged.`).waitFor();
    expect(await nameOfGold()).toBe('Fine gold');
    expect(complaints).toEqual([]);
    await close();
  });

  test('prices that were released or dropped are listed with the decision', async () => {
    const at = service.clock.now() - 60_000;
    const ticks = [100, 101, 5_000].map((price, i) => ({ symbol: 'XAG', price, at: at + i, id: `${i}` }));
    expect(await post('/admin/ticks', { source: 'desk', ticks })).toMatchObject({ quarantined: 1 });
    const { page, close } = await open('feeds');
    const row = page.locator('tbody tr').filter({ hasText: '5000 is far' });
    await row.getByRole('button', { name: 'Drop it' }).click();
    await row.getByRole('button', { name: 'Drop it for good' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('group', { name: 'Which prices' }).getByRole('button', { name: 'All' }).click();
    await row.getByText(/dropped .* by operator/).waitFor();
    await close();
  });
});
