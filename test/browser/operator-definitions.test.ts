import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ECB_HISTORY, ECB_XML, zipOf } from '../support/feeds/feed-bodies.ts';
import { StubServer } from '../support/feeds/stub-server.ts';
import { eventually } from '../support/program.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { seriousFindings } from './axe.ts';
import { OPERATOR_TOKEN, openOperatorPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

inBrowser('formulas and providers on the operator’s page', (browser) => {
  const provider = new StubServer();
  let service: TestService;
  beforeAll(async () => {
    service = await openTestService('sqlite', { settings: { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN } });
  });
  afterAll(() => service?.close());

  const open = (section: string, options: object = {}) =>
    openOperatorPage(browser, service.url, section, options);
  const definitions = async () =>
    (await service.ledger.formulas.list())
      .filter(({ code }) => code === 'BRENT-WTI')
      .map(({ expression }) => expression);

  test('a new plan, formula or symbol never replaces one that another operator has created meanwhile', async () => {
    const { page, close } = await open('customers');
    await page.getByRole('button', { name: 'New plan' }).click();
    await page.getByLabel('Name', { exact: true }).fill('meanwhile');
    await service.setPlan({ name: 'meanwhile', quota: 7 });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('There is already a plan "meanwhile". It was not replaced.').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('meanwhile');
    const plans = await service.ledger.plans.list();
    expect(plans.find(({ name }) => name === 'meanwhile')?.quota).toBe(7);
    await page.goto(`${service.url}/#/operator/prices`);
    await page.getByRole('button', { name: 'New symbol' }).click();
    for (const [label, text] of [
      ['Code', 'XAU'],
      ['Name', 'Fool’s gold'],
      ['Category', 'Metals'],
      ['Unit', 'T.oz'],
      ['Unit in words', 'Troy Ounce'],
    ] as const)
      await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('There is already a symbol "XAU".').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const measures = { unit: 'none', currency: 'none' };
    const formula = { code: 'OURS', name: 'Ours', expression: '{XAU}/{XAG}', ...measures };
    await page.getByRole('button', { name: 'New formula' }).click();
    await page.getByLabel('Code', { exact: true }).fill('OURS');
    await page.getByLabel('Name', { exact: true }).fill('Theirs');
    await page.getByLabel('Formula: symbols').fill('{XAU}');
    await service.ledger.formulas.define(formula);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('There is already a formula "OURS".').waitFor();
    expect(await service.ledger.formulas.list()).toContainEqual(formula);
    await service.ledger.formulas.undefine('OURS');
    await close();
  });

  test('what is typed for a symbol stays while the page reads the state of the service', async () => {
    const { page, close } = await open('prices');
    await page.getByRole('button', { name: 'New symbol' }).click();
    const codes = page.getByLabel('Also known as');
    await codes.fill('gold9, gol');
    const renewed = page.waitForRequest(/\/admin\/replicas$/);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await renewed;
    expect(await codes.inputValue()).toBe('gold9, gol');
    await close();
  });

  test('a formula is defined, changed and deleted, and each change is undone', async () => {
    const { page, complaints, close } = await open('prices');
    const card = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Formulas' }) });
    await card.getByRole('button', { name: 'New formula' }).click();
    await card.getByLabel('Code').fill('brent-wti');
    await card.getByLabel('Name').fill('Brent premium');
    await card.getByLabel('Formula: symbols').fill('{BRENTOIL-FUT}-{WTIOIL-FUT');
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await card.getByRole('alert').getByText('The request was refused').waitFor();
    expect(await definitions()).toEqual([]);
    await card.getByLabel('Formula: symbols').fill('{BRENTOIL-FUT} - {WTIOIL-FUT}');
    await card.getByLabel('Currency').fill('USD');
    await card.getByLabel('Unit').fill('Bbl');
    expect(await seriousFindings(page)).toEqual([]);
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await card.getByText('BRENT-WTI is defined.').waitFor();
    await card.getByRole('row', { name: 'Brent premium' }).getByText('USD/Bbl').waitFor();
    expect(await definitions()).toEqual(['{BRENTOIL-FUT}-{WTIOIL-FUT}']);

    await card.getByRole('button', { name: 'Change the formula BRENT-WTI' }).click();
    await card.getByLabel('Formula: symbols').fill('{BRENTOIL-FUT}/{WTIOIL-FUT}');
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await card.getByText('BRENT-WTI is changed.').waitFor();
    expect(await definitions()).toEqual(['{BRENTOIL-FUT}/{WTIOIL-FUT}']);
    await card.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => (await definitions())[0] === '{BRENTOIL-FUT}-{WTIOIL-FUT}');

    await card.getByRole('button', { name: 'Delete BRENT-WTI' }).click();
    await card.getByRole('button', { name: 'Delete the formula BRENT-WTI' }).click();
    await card.getByText('BRENT-WTI is deleted.').waitFor();
    expect(await definitions()).toEqual([]);
    await card.getByRole('button', { name: 'Undo' }).click();
    await card.getByRole('row', { name: 'Brent premium' }).waitFor();
    expect(await definitions()).toEqual(['{BRENTOIL-FUT}-{WTIOIL-FUT}']);
    const link = await card.getByRole('link', { name: 'BRENT-WTI' }).getAttribute('href');
    expect(decodeURIComponent(link!)).toBe('#/symbol/{BRENTOIL-FUT}-{WTIOIL-FUT}');
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
    await close();
  });

  test('a provider is tested, and its address replaced, undone and restored', async () => {
    provider.respond = () => new Response('', { status: 404 });
    const { page, close } = await open('feeds');
    await page.getByText('8 feeds that can be turned on').waitFor();
    await page.getByRole('button', { name: 'Details of ecb' }).click();
    const card = page.locator('.offers li').filter({ hasText: 'European Central Bank' });
    const history = card.getByLabel('Address “history”');
    const recent = card.getByLabel('Address “recent”');
    const own = await history.inputValue();
    expect(own).toMatch(/^https:/);
    const save = async () => {
      await card.getByRole('button', { name: 'Save the addresses of ecb' }).click();
      await card.getByRole('button', { name: 'Yes, fetch from there' }).click();
    };
    await history.fill('http://mirror.example/history.zip');
    await save();
    await card.getByText('must be an https address').waitFor();
    expect(await service.ledger.feeds.urls('ecb')).toEqual({});
    await history.fill(`${provider.url}/history.zip`);
    await recent.fill(`${provider.url}/recent.xml`);
    await save();
    await card.getByText('replaced').first().waitFor();
    expect(await service.ledger.feeds.urls('ecb')).toEqual({
      history: `${provider.url}/history.zip`,
      recent: `${provider.url}/recent.xml`,
    });
    expect(await seriousFindings(page)).toEqual([]);

    const probe = card.getByRole('button', { name: 'Test the provider of ecb' });
    await probe.click();
    await card.getByText('the address is gone').waitFor();
    await card.getByText(/change its address “\w+” in the details/).waitFor();
    provider.respond = (request) =>
      request.url.endsWith('.zip')
        ? new Response(new Uint8Array(zipOf({ 'eurofxref-hist.csv': ECB_HISTORY })))
        : new Response(ECB_XML);
    await probe.click();
    await card.getByText('answers as expected').waitFor();

    await card.getByRole('button', { name: 'Undo' }).click();
    await card.getByText('replaced').first().waitFor({ state: 'detached' });
    expect(await service.ledger.feeds.urls('ecb')).toEqual({});
    expect(await history.inputValue()).toBe(own);
    await close();
  });

  test('all providers are tested one after the other, and those that must not be are named', async () => {
    provider.respond = () => new Response('<html><title>Are you a robot?</title></html>');
    const { feeds } = service.ledger;
    await feeds.setUrls('ecb', { history: `${provider.url}/a`, recent: `${provider.url}/b` });
    await feeds.setUrls('world-bank', { page: `${provider.url}/c` });
    await feeds.setUrls('imf', { data: `${provider.url}/?{ids}` });
    await feeds.setUrls('fred', { csv: `${provider.url}/?{id}` });
    const { page, close } = await open('feeds', { viewport: { width: 390, height: 844 } });
    await page.getByRole('button', { name: 'Test all providers' }).click();
    const answers = page.getByRole('list', { name: 'What the providers answered' });
    await answers.getByText('imf', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Test all providers' }).waitFor(); // done
    const text = (await answers.innerText()).replaceAll('\n', ' ');
    expect(text).toContain('Are you a robot?');
    expect(text).toMatch(/eia not tried: it needs OPENPIT_EIA_API_KEY/);
    expect(text).toMatch(/lbma not tried: it is off, and its terms/);
    expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
    await close();
  });
});
