import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { hold, OPERATOR_TOKEN, openOperatorPage, openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('while a change is on its way', (browser) => {
  let service: TestService;
  beforeAll(async () => {
    const settings = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN };
    service = await openTestService('sqlite', { settings, now: Date.now() });
  });
  afterAll(() => service?.close());

  const openAccount = async (key: string) => {
    const watched = await openPage(browser, service.url);
    await watched.page.goto(`${service.url}/#key=${key}`);
    await watched.page.goto(`${service.url}/#/account`);
    await watched.page.getByRole('button', { name: 'Create a key' }).waitFor();
    return watched;
  };
  const open = (section: string) => openOperatorPage(browser, service.url, section);
  const createAccount = (name: string) =>
    service.get('/admin/accounts', undefined, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, plan: 'basic' }),
    });
  const csvFile = (name: string, price: number) => ({
    name,
    mimeType: 'text/csv',
    buffer: Buffer.from(`Date,Close\n2024-05-13,${price}\n`),
  });

  test('a new key stays on the screen when the key of the page is rotated', async () => {
    const key = await service.key('pro');
    const { page, close } = await openAccount(key);
    await page.getByRole('button', { name: /^Rotate key_/ }).click();
    await page.getByRole('button', { name: /^Rotate now key_/ }).click();
    await page.getByText('Your new key, shown only once').waitFor();
    await page.locator('tr').filter({ hasText: 'this one' }).getByText('new', { exact: true }).waitFor();
    expect(await page.locator('.new-key').textContent()).not.toBe(key);
    await close();
  });

  test('a new key stays on the screen when another one is revoked', async () => {
    const { page, close } = await openAccount(await service.key('pro'));
    const create = async () => {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('button', { name: 'I have saved it' }).waitFor();
    };
    await create();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await create();
    const other = page.locator('tbody tr').filter({ hasNotText: 'this one' }).filter({ hasNotText: 'new' });
    await other.getByRole('button', { name: /^Revoke key_/ }).click();
    await other.getByRole('button', { name: /^Revoke for good/ }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect(await page.locator('.new-key').count()).toBe(1);
    await close();
  });

  test('a new key of an account stays on the screen when the list of keys cannot be read', async () => {
    await service.key('pro');
    const { page, close } = await open('customers');
    await page
      .getByRole('button', { name: /^Usage and keys of/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.route(/\/admin\/accounts\/[^/]+$/, (route) => route.abort());
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.locator('.detail').getByText('No connection to the service').waitFor();
    expect(await page.locator('.new-key').count()).toBe(1);
    await close();
  });

  test('every new key stays on the screen until it is dismissed', async () => {
    const { page, close } = await openAccount(await service.key('pro'));
    const create = async () => {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('button', { name: 'Create', exact: true }).click();
    };
    await create();
    await page.locator('.new-key').waitFor();
    const first = await page.locator('.new-key').textContent();
    await create();
    await page.locator('.new-key').nth(1).waitFor();
    expect(await page.locator('.new-key').allTextContents()).toContain(first!);
    await page.locator('tbody').getByText('new', { exact: true }).nth(1).waitFor();
    const kept = page.locator('.notice').filter({ hasText: first! });
    await kept.getByRole('button', { name: 'I have saved it' }).click();
    await kept.waitFor({ state: 'detached' });
    expect(await page.locator('.new-key').count()).toBe(1);
    await close();
  });

  test('refused rules of a key stay in the form, with the reason', async () => {
    const { page, close } = await openAccount(await service.key('pro'));
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('Dashboard');
    await page.getByLabel('Only from these addresses').fill('203.0.113.0/24, nowhere');
    await page.getByRole('button', { name: 'Create', exact: true }).dblclick();
    await page.getByRole('alert').filter({ hasText: 'must be an address' }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Dashboard');
    await page.getByLabel('Only from these addresses').fill('203.0.113.0/24');
    await page.getByRole('button', { name: 'Create', exact: true }).dblclick();
    await page.locator('.new-key').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.getByLabel('Name').count()).toBe(0);
    await page.getByText('Dashboard').waitFor();
    expect(await page.getByText('Dashboard').count()).toBe(1);
    await close();
  });

  test('an outage is shown once, also after a failed change, and not once it is over', async () => {
    await createAccount('Outage');
    const operator = await open('customers');
    const account = await openAccount(await service.key('pro'));
    const changes: [Page, act: (page: Page) => Promise<void>][] = [
      [
        operator.page,
        async (page) => {
          await page.getByRole('button', { name: 'Suspend Outage' }).click();
          await page
            .getByRole('button', { name: /^Suspend .*Outage$/ })
            .first()
            .click();
        },
      ],
      [
        account.page,
        async (page) => {
          await page.getByRole('button', { name: 'Create a key' }).click();
          await page.getByRole('button', { name: 'Create', exact: true }).click();
        },
      ],
    ];
    for (const [page, act] of changes) {
      const outage = page.getByText('No connection to the service');
      await page.getByRole('row').nth(1).waitFor();
      await page.route(/admin|account|usage|health/, (route) => route.abort());
      await act(page);
      await outage.first().waitFor();
      await eventually(async () => (await outage.count()) === 1);
      await page.unroute(/admin|account|usage|health/);
      await eventually(async () => (await outage.count()) === 0);
    }
    await operator.close();
    await account.close();
  });

  test('of two checks which key a text is, the last one is shown', async () => {
    const key = await service.key('pro');
    const { page, close } = await openAccount(key);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/account$/, async (route) => {
      if (route.request().headers()['x-api-key'] === 'op_wrong') await released;
      await route.continue();
    });
    const field = page.getByLabel('Which key is this?');
    const find = page.getByRole('button', { name: 'Find it' });
    await field.fill('op_wrong');
    await find.click();
    await field.fill(key);
    await find.click();
    await page.getByText(/^It is key_/).waitFor();
    const late = page.waitForResponse(/\/account$/);
    release();
    await (await late).finished();
    await page.evaluate(`new Promise((done) => setTimeout(done))`); // after the page has read it
    expect(await page.getByText(/^It is key_/).count()).toBe(1);
    await close();
  });

  test('while a backup is deleted, the page does not say that it makes one', async () => {
    const { page, close } = await open('maintenance');
    await page.getByRole('button', { name: 'Back up now' }).click();
    const remove = page.getByRole('button', { name: /^Delete openpit/ });
    await remove.waitFor();
    const deletion = await hold(page, /\/admin\/backups\/./);
    await remove.click();
    await page.getByRole('button', { name: /^Delete for good/ }).click();
    await page.locator(':disabled').getByText('Delete', { exact: true }).waitFor();
    expect(await page.getByText('Backing up…').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Back up now' }).isEnabled()).toBe(true);
    deletion.release();
    await page.getByText('None yet').waitFor();
    await close();
  });

  test('the name of a new account stays while accounts are searched', async () => {
    const { page, close } = await open('customers');
    await page.getByLabel('New account').fill('Smelter');
    await page.getByLabel('Search accounts').fill('nobody');
    await page.getByText('No account matches').waitFor();
    expect(await page.getByLabel('New account').inputValue()).toBe('Smelter');
    await close();
  });

  test('changes of an account arrive in the order in which they were made', async () => {
    await createAccount('Refinery');
    const { page, close } = await open('customers');
    const plan = page.getByLabel('Plan of Refinery');
    await plan.waitFor();
    const changes = await hold(page, /\/admin\/accounts\/[^/]+$/);
    await plan.selectOption('pro');
    await plan.selectOption('free');
    await page.evaluate(`fetch('/health')`); // whatever was sent before it has been counted
    expect(changes.count).toBe(1);
    expect(await plan.inputValue()).toBe('free');
    changes.release();
    await page.getByText('Refinery is on the plan free now.').waitFor();
    await eventually(async () => (await plan.inputValue()) === 'free');
    await close();
  });

  test('public feeds are turned on once, and a refusal is not reported as a success', async () => {
    const { page, close } = await open('feeds');
    let sent = 0;
    await page.route(/\/admin\/feeds\/[^/]+$/, async (route) => {
      sent++;
      await route.fulfill({ status: 400, json: { success: false, message: 'refused on purpose' } });
    });
    await page.getByRole('button', { name: /^Turn on all public feeds/ }).dblclick();
    await page.getByText('refused on purpose').waitFor();
    expect(await page.getByText('They run now').count()).toBe(0);
    expect(sent).toBe(1);
    await close();
  });

  test('a plan is saved once, and its answer does not close the form of another plan', async () => {
    const { page, close } = await open('customers');
    await page.getByRole('button', { name: 'Change the plan basic' }).click();
    const saved = await hold(page, /\/admin\/plans\/basic/);
    await page.getByRole('button', { name: 'Save', exact: true }).dblclick();
    await page.getByRole('button', { name: 'Change the plan pro' }).click();
    await page.getByLabel('Symbols', { exact: true }).fill('77');
    saved.release();
    await page.getByText('The plan basic is changed.').waitFor();
    expect(saved.count).toBe(1);
    expect(await page.getByLabel('Symbols', { exact: true }).inputValue()).toBe('77');
    await close();
  });

  test('a preview is shown only for the file that was chosen last', async () => {
    const { page, close } = await open('prices');
    const file = page.getByLabel('File', { exact: true });
    await file.setInputFiles(csvFile('old.csv', 2_340));
    await page.getByLabel('Symbol of all rows').fill('XAU');
    const previews = await hold(page, /\/admin\/imports\?file/);
    await page.getByRole('button', { name: 'Preview' }).click();
    await eventually(async () => previews.count === 1);
    await file.setInputFiles(csvFile('new.csv', 9_999));
    previews.release();
    await page.getByRole('button', { name: 'Preview' }).and(page.locator(':enabled')).waitFor();
    expect(await page.getByText('Preview for XAU').count()).toBe(0);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Preview for XAU').waitFor();
    await page.getByText('9,999').first().waitFor();
    await close();
  });

  test('older entries of the audit log are loaded once, and only into the search they belong to', async () => {
    for (let i = 0; i < 120; i++) await createAccount(`Account ${i}`);
    const { page, close } = await open('audit');
    const rows = page.locator('table.audit tbody tr');
    const more = page.getByRole('button', { name: 'Show older entries' });
    await more.waitFor();
    const older = await hold(page, /\/admin\/audit\?.*before=/);
    const before = await rows.count();
    await more.dblclick();
    await eventually(async () => older.count > 0);
    await page.getByLabel('Search the audit log').fill('nothing like this');
    await page.getByText('No entry matches').waitFor();
    const late = page.waitForResponse(/before=/);
    older.release();
    await (await late).finished();
    expect(await rows.count()).toBe(0);
    expect(older.count).toBe(1);
    await page.getByLabel('Search the audit log').fill('');
    await more.click();
    await rows.nth(before).waitFor();
    await close();
  });

  test('the focus stays on the button that was pressed, while its request is on its way and after it', async () => {
    const { page, close } = await openAccount(await service.key('pro'));
    const focused = page.locator(':focus');
    await page.goto(`${service.url}/#/docs/reference/getUsage`);
    const get = page.getByRole('button', { name: 'Send', exact: true }).first();
    await get.press('Enter');
    await page.locator('.answer').waitFor();
    await focused.and(get).waitFor();
    await page.goto(`${service.url}/#/docs/reference/postAccountKeys`);
    const post = page.getByRole('button', { name: 'Send POST /account/keys', exact: true });
    await post.press('Enter');
    await page.getByRole('button', { name: 'Send now: POST /account/keys' }).press('Enter');
    await page.locator('.answer').nth(1).waitFor();
    await focused.and(post).waitFor();
    await page.goto(`${service.url}/#/account`);
    const label = await page.getByRole('button', { name: /^Rotate key_/ }).getAttribute('aria-label');
    const rotate = page.getByRole('button', { name: label!, exact: true }); // the list will have the new key, too
    await rotate.press('Enter');
    await page.getByRole('button', { name: /^Rotate now key_/ }).press('Enter');
    await page.locator('.new-key').waitFor();
    await focused.and(rotate).waitFor();
    await close();
  });

  test('a request of the reference is sent once, however often it is clicked', async () => {
    const { page, close } = await openPage(browser, service.url);
    await page.goto(`${service.url}/#/docs/reference/getHealth`);
    const send = page.getByRole('button', { name: 'Send', exact: true }).first();
    await send.waitFor();
    const sent = await hold(page, /\/health/);
    await send.dblclick();
    await eventually(async () => sent.count > 0);
    sent.release();
    await page.locator('.answer').waitFor();
    expect(sent.count).toBe(1);
    await close();
  });
});
