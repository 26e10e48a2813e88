import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { newFolder } from '../support/ledger.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { OPERATOR_TOKEN, openOperatorPage, openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('a mistake', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    const settings = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN };
    service = await openTestService('sqlite', { settings, now: Date.now() });
  });
  afterAll(() => service?.close());

  const open = (section: string) => openOperatorPage(browser, service.url, section);
  const asOperator = async (path: string, method = 'GET', body?: object) => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
    return (await service.get(path, undefined, { method, headers, body: JSON.stringify(body) })).json();
  };
  const createAccount = async (name: string) => {
    const body = { name, plan: 'basic' };
    return (await asOperator('/admin/accounts', 'POST', body)) as {
      account: { id: string };
      key: { id: string };
    };
  };
  const openDetail = (page: Page, name: string) =>
    page.getByRole('button', { name: `Usage and keys of ${name}` }).click();

  test('a double click does not confirm what cannot be undone', async () => {
    await createAccount('Twice');
    const { page, close } = await open('customers');
    await openDetail(page, 'Twice');
    const remove = page.getByRole('button', { name: 'Delete the account Twice' });
    await remove.dblclick();
    const sure = page.getByRole('button', { name: /^Delete it with its keys/ });
    await sure.waitFor();
    expect(await asOperator('/admin/accounts?search=Twice')).toMatchObject({ accounts: [{ name: 'Twice' }] });
    await page.getByRole('button', { name: 'No, do not delete the account Twice' }).click();
    await remove.click();
    await page.mouse.move(0, 0); // ends the series of clicks
    await sure.click();
    await page.getByRole('button', { name: 'Usage and keys of Twice' }).waitFor({ state: 'detached' });
    await close();
  });

  test('the keyboard stays where it was when a confirmation appears and goes away', async () => {
    await createAccount('Typist');
    const { page, close } = await open('customers');
    const suspend = page.getByRole('button', { name: 'Suspend Typist' });
    await suspend.press('Enter');
    const no = page.getByRole('button', { name: 'No, do not suspend Typist' });
    await no.waitFor();
    await page.locator(':focus').and(no).waitFor();
    await page.keyboard.press('Enter');
    await suspend.waitFor();
    await page.locator(':focus').and(suspend).waitFor();
    await close();
  });

  test('the focus goes to the next sensible button when the pressed one disappears, and the result is announced', async () => {
    await createAccount('Alpha');
    await createAccount('Beta');
    const { page, close } = await open('customers');
    const focused = page.locator(':focus');
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const press = (name: string | RegExp) => button(name).press('Enter');
    const confirm = async (name: string | RegExp, sure: string | RegExp) => {
      await press(name);
      await focused.and(button(/^No, /)).waitFor(); // it takes the focus
      await press(sure);
    };
    const said = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
    await confirm('Suspend Alpha', 'Suspend now Alpha');
    await said('Alpha is suspended.');
    await focused.and(button('Resume Alpha')).waitFor();
    await press('Resume Alpha');
    await said('Alpha is active again.');
    await focused.and(button('Suspend Alpha')).waitFor();
    await page.getByLabel('Plan of Alpha').selectOption('pro');
    await press('Undo');
    await said('Alpha is on the plan basic now.');
    await focused.and(button('Create account')).waitFor();
    await press('Usage and keys of Alpha');
    await confirm(/^Revoke key_/, /^Revoke for good key_/);
    await said(/key_\w+ is revoked\./);
    await focused.and(button('Create a key')).waitFor();
    await confirm('Delete the account Alpha', /^Delete it with its keys/);
    await said('The account Alpha is deleted.');
    await focused.and(button(/^Usage and keys of /)).waitFor();
    await confirm('Delete free', 'Delete the plan free');
    await said('The plan free is deleted.');
    await focused.and(button(/^Change the plan/)).waitFor();
    await press('Undo');
    await said('The change is undone.');
    await focused.and(button('New plan')).waitFor();
    await close();
  });

  test('the focus stays in the part of the page whose button disappeared, on the other operator’s pages', async () => {
    const { page, close } = await open('maintenance');
    const focused = page.locator(':focus');
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const press = (name: string | RegExp) => button(name).press('Enter');
    const confirm = async (name: string | RegExp, sure: string | RegExp) => {
      await press(name);
      await focused.and(button(/^No, /)).waitFor(); // it takes the focus
      await press(sure);
    };
    const said = (text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
    await press('Back up now');
    await said(/^The backup .* is complete\./);
    await focused.and(button('Back up now')).waitFor();
    await confirm(/^Delete .*\.db/, /^Delete for good .*\.db/);
    await said(/^The backup .* is deleted\./);
    await focused.and(button('Back up now')).waitFor();
    await confirm('Show the webhook secret', 'Show it on the screen the webhook secret');
    await focused.and(button('Hide')).waitFor();
    await page.goto(`${service.url}/#/operator/feeds`);
    await press('Turn on imf');
    await said('imf is on');
    await focused.and(button(/^Turn on all public feeds/)).waitFor();
    await confirm('Turn off imf', 'Turn off now imf');
    await said('imf is off.');
    await focused.and(button(/^Turn on all public feeds/)).waitFor();
    await page.goto(`${service.url}/#/operator/prices`);
    await confirm('Delete BIT', 'Delete with all prices BIT');
    await said('BIT is deleted.');
    await focused.and(button(/^Change /)).waitFor();
    await close();
  });

  test('a form that a button opens gets the focus in view, Escape closes it, and the focus returns', async () => {
    const { account, key } = await createAccount('Forms');
    for (let n = 0; n < 12; n++) await asOperator(`/admin/accounts/${account.id}/keys`, 'POST', {});
    const { page, shot, close } = await open('customers');
    await openDetail(page, 'Forms');
    for (const [button, field, text] of [
      [`Change ${key.id}`, 'Name', 'shop'],
      ['Create a key', 'Name', 'web'],
      ['Change the plan unlimited', 'Units per month', '77'],
    ] as const) {
      const opener = page.getByRole('button', { name: button });
      const input = page.getByLabel(field, { exact: true });
      const focused = page.locator(':focus');
      await opener.press('Enter');
      await focused.and(input).waitFor();
      expect(await input.evaluate((one) => one.getBoundingClientRect().top > 60)).toBe(true); // below the head of the page
      if (button.includes(key.id)) await shot('change-key');
      await page.keyboard.press('Escape');
      await input.waitFor({ state: 'detached' });
      await focused.and(opener).waitFor();
      await opener.press('Enter');
      await input.fill(text);
      await page.keyboard.press('Enter');
      await input.waitFor({ state: 'detached' });
      await focused.and(opener).waitFor();
    }
    await close();
  });

  test('the first keys of two new accounts stay on the screen, and so does a name that is refused', async () => {
    const { page, close } = await open('customers');
    const create = async (name: string) => {
      await page.getByLabel('New account').fill(name);
      await page.getByRole('button', { name: 'Create account' }).click();
    };
    await create('First Customer');
    await page.getByText('The first key of First Customer, shown only once').waitFor();
    await create('Second Customer');
    await page.getByText('The first key of Second Customer, shown only once').waitFor();
    expect(await page.locator('.new-key').count()).toBe(2);
    await page.getByRole('button', { name: 'I have saved it' }).first().click();
    await page.getByText('The first key of Second Customer, shown only once').waitFor({ state: 'detached' });
    expect(await page.locator('.new-key').count()).toBe(1);
    await page.route('**/admin/accounts', (route) => route.fulfill({ status: 500, body: '{}' }));
    await create('Third Customer');
    await page.getByText('The service could not answer').first().waitFor();
    expect(await page.getByLabel('New account').inputValue()).toBe('Third Customer');
    await close();
  });

  test('a new name of a rotated key does not prolong its life', async () => {
    const { account, key } = await createAccount('Rotating');
    await asOperator(`/admin/keys/${key.id}/rotate`, 'POST', { overlapSeconds: 300 });
    const keys = async () =>
      ((await asOperator(`/admin/accounts/${account.id}`)) as { keys: Record<string, unknown>[] }).keys;
    const rotated = (await keys()).find(({ id }) => id === key.id)!;
    const { page, close } = await open('customers');
    await openDetail(page, 'Rotating');
    await page.getByRole('button', { name: `Change ${key.id}` }).click();
    await page.getByLabel('Name', { exact: true }).fill('the old one');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.key-name').getByText('the old one').waitFor();
    expect(await keys()).toContainEqual({ ...rotated, name: 'the old one' });
    await close();
  });

  test('a wrong token is sent until it is refused, and again only if it is entered again', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.clock.install();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/admin/')) asked++;
    });
    const signIn = async () => {
      await page.getByLabel('Admin token').fill('a-wrong-token-of-mine');
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await page.goto(`${service.url}/#/operator`);
    await signIn();
    await page.getByText('This token does not work').waitFor();
    const before = asked;
    await page.clock.runFor(60_000);
    expect(asked).toBe(before);
    const again = page.waitForRequest(/\/admin\//);
    await signIn();
    await again;
    await page.getByText('This token does not work').waitFor();
    await close();
  });

  test('a file that was edited after it was chosen has to be chosen again', async () => {
    const path = join(newFolder(), 'gold.csv');
    await Bun.write(path, 'Date,Close\n2024-05-13,oops\n');
    const { page, close } = await open('prices');
    await page.getByLabel('File', { exact: true }).setInputFiles(path);
    await page.getByLabel('Symbol of all rows').fill('XAU');
    await Bun.write(path, 'Date,Close\n2024-05-13,2336\n2024-05-14,2340\n');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('The file was changed or removed after it was chosen. Choose it again.').waitFor();
    await page.getByLabel('File', { exact: true }).setInputFiles(path);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Preview for XAU').waitFor();
    await close();
  });

  test('a price with a decimal comma is named, and nothing is sent', async () => {
    const { page, close } = await open('prices');
    const form = page.locator('section').filter({ hasText: 'Correct or withdraw a day' });
    await form.getByLabel('Symbol').fill('XAU');
    await form.getByLabel('Day', { exact: true }).fill('2024-05-13');
    await form.getByLabel('Close').fill('2340,5');
    await form.getByLabel('Reason').fill('typing error');
    await form.getByRole('button', { name: 'Correct XAU' }).click();
    await form.getByRole('button', { name: 'Correct it XAU' }).click();
    await form.getByText('“2340,5” is not a price. Write it with a decimal point, such as 2340.5.').waitFor();
    await close();
  });

  test('blanks are no price, and no day is withdrawn while the last one does not exist', async () => {
    await service.publish('XAU', { '2024-05-13': 2336, '2024-05-14': 2358 });
    const { page, close } = await open('prices');
    const form = page.locator('section').filter({ hasText: 'Correct or withdraw a day' });
    await form.getByLabel('Symbol').fill('XAU ');
    await form.getByLabel('Day', { exact: true }).fill('2024-05-13');
    await form.getByLabel('Reason').fill('wrong');
    await form.getByLabel('Close').fill(' ');
    expect(await form.getByRole('button', { name: 'Correct XAU' }).isDisabled()).toBe(true);
    await form.getByRole('button', { name: 'Withdraw', exact: true }).click();
    await form.getByLabel('Last day').focus();
    await page.keyboard.type('02312024');
    await form.getByRole('button', { name: 'Withdraw XAU' }).click();
    await form.getByRole('button', { name: 'Withdraw it XAU' }).click();
    await page.locator(':focus').and(form.getByLabel('Last day')).waitFor();
    await form.getByLabel('Last day').fill('2024-05-14');
    await form.getByRole('button', { name: 'Withdraw XAU' }).click();
    await form.getByRole('button', { name: 'Withdraw it XAU' }).click();
    await form.getByText('2 days of XAU withdrawn.').waitFor();
    await close();
  });

  test('a number stays as it is typed, and one that is missing or not whole is reported at its field', async () => {
    const { page, complaints, close } = await open('customers');
    await page.getByRole('button', { name: 'New plan' }).click();
    await page.getByLabel('Name', { exact: true }).fill('typed');
    const [units, days] = [page.getByLabel('Units per month'), page.getByLabel('Days in a series')];
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
    for (const [text, complaint] of [
      ['', /fill out/],
      ['1.5', /valid value/],
    ] as const) {
      await units.fill('');
      await units.pressSequentially(text);
      await save();
      expect(await page.locator(':focus').and(units).inputValue()).toBe(text);
      expect(await page.evaluate('document.activeElement.validationMessage')).toMatch(complaint);
    }
    await units.fill('');
    await units.pressSequentially('2e3');
    await days.fill('30');
    await days.fill('');
    await save();
    await page.getByText('The plan typed is created.').waitFor();
    const plan = (await service.ledger.plans.list()).find(({ name }) => name === 'typed');
    expect(plan).toMatchObject({ quota: 2_000, maxSpanDays: null });
    expect(complaints).toEqual([]);
    await close();
  });

  test('what is typed into the middle of a code is capitalised where it is', async () => {
    const { page, close } = await open('prices');
    const insert = async (label: string) => {
      const field = page.getByLabel(label, { exact: true });
      await field.fill('XAU');
      await field.press('Home');
      await field.pressSequentially('ab ');
      expect(await field.inputValue(), label).toBe('AB XAU');
    };
    await insert('Symbol');
    await page.getByRole('button', { name: 'New symbol' }).click();
    await insert('Code');
    await insert('Market');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'New formula' }).click();
    await insert('Code');
    await close();
  });

  test('before the first real price of a symbol, the operator is told that it hides the simulated ones', async () => {
    const settings = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN, OPENPIT_DEMO: 'true' };
    const demo = await openTestService('sqlite', { settings, now: Date.now() });
    await demo.publish('XAG', { '2024-05-13': 28 });
    const { page, shot, close } = await openOperatorPage(browser, demo.url, 'prices');
    const warning = page.getByText(/^The first real price of XAU hides its whole simulated history/);
    const choose = (symbol: string) =>
      page.getByLabel('File', { exact: true }).setInputFiles({
        name: `${symbol}.csv`,
        mimeType: 'text/csv',
        buffer: Buffer.from('Date,Close\n2024-05-14,29\n'),
      });
    const preview = async (symbol: string) => {
      await choose(symbol);
      await page.getByLabel('Symbol of all rows').fill(symbol);
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText(`Preview for ${symbol}`).waitFor();
    };
    await preview('XAU');
    await warning.waitFor();
    await shot('operator-first-real-price');
    await preview('XAG');
    expect(await warning.count()).toBe(0);
    const form = page.locator('section').filter({ hasText: 'Correct or withdraw a day' });
    await form.getByLabel('Symbol').fill('xau');
    await warning.waitFor();
    await shot('operator-first-correction', true);
    await form.getByLabel('Day', { exact: true }).fill('2024-05-14');
    await form.getByLabel('Close').fill('2340');
    await form.getByLabel('Reason').fill('test');
    await form.getByRole('button', { name: 'Correct XAU' }).click();
    await form.getByRole('button', { name: 'Correct it XAU' }).click();
    await form.getByText('XAU on 2024-05-14 is corrected.').waitFor();
    await warning.waitFor({ state: 'detached' });
    await close();
    await demo.close();
  });

  test('the audit log does not take two addresses of a new key for a change', async () => {
    const { account } = await createAccount('Addresses');
    const allowedIps = ['10.0.0.1', '10.0.0.2'];
    const answer = await asOperator(`/admin/accounts/${account.id}/keys`, 'POST', { allowedIps });
    const { key } = answer as { key: { id: string } };
    await asOperator(`/admin/keys/${key.id}`, 'PATCH', { allowedIps: ['10.0.0.3'] });
    const { page, close } = await open('audit');
    const row = (action: string) =>
      page.getByRole('row').filter({ hasText: action }).filter({ hasText: key.id });
    expect(await row('key.create').innerText()).toContain('allowedIps 10.0.0.1, 10.0.0.2');
    expect(await row('key.update').innerText()).toContain('10.0.0.1, 10.0.0.2 → 10.0.0.3');
    await close();
  });
});
