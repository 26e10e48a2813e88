import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { demoFolder } from '../support/database/demo-folder.ts';
import { Program } from '../support/program.ts';
import { openPage } from './browser.ts';
import { inBrowser } from './in-browser.ts';

const RUNNERS = {
  curl: (text: string) => ['bash', '-c', text.replace('curl', 'curl -sS --fail-with-body')],
  Python: (text: string) => ['python3', '-c', text],
  JavaScript: (text: string) => [process.execPath, '-e', text],
};

const PYTHON = Bun.which('python3');
const hasRequests = PYTHON !== null && Bun.spawnSync([PYTHON, '-c', 'import requests']).exitCode === 0;
inBrowser('the examples', (browser) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.start({ OPENPIT_DATA_DIR: await demoFolder() });
  });
  afterAll(() => program?.end());

  for (const language of ['curl', 'Python', 'JavaScript'] as const) {
    const needed = language === 'Python' && !hasRequests;
    test.skipIf(needed)(`of the documentation run as they are copied, in ${language}`, async () => {
      const { page, close } = await openPage(browser, program.url, {
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      await page.goto(`${program.url}/#/docs`);
      await page.getByRole('button', { name: language }).click();
      const examples = await copyAll(page);
      expect(examples.length).toBeGreaterThan(9);
      for (const text of examples) {
        const output = await outputOf(RUNNERS[language](text));
        expect(output, text).toMatch(/success['"]?: *true|^date,|^symbol,|^data: /im);
      }
      await close();
    });
  }

  test('a spreadsheet gets CSV from an address with and without a query', async () => {
    const { page, close } = await openPage(browser, program.url, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${program.url}/#/docs`);
    await page.getByRole('button', { name: 'Spreadsheet', exact: true }).click();
    const examples = await copyAll(page);
    for (const text of examples.filter((one) => one !== 'A spreadsheet cannot follow a stream.')) {
      const [, url = ''] = /^=IMPORTDATA\("(.+?)"; ","; "en_US"\)$/.exec(text) ?? [];
      const response = await fetch(url);
      expect(response.status, url).toBe(200);
      expect(response.headers.get('content-type')).toStartWith('text/csv');
    }
    await close();
  });
});

async function copyAll(page: Page): Promise<string[]> {
  const texts: string[] = [];
  for (const button of await page.getByRole('button', { name: /^Copy: / }).all()) {
    await page.evaluate('navigator.clipboard.writeText("")');
    await button.click();
    await page.waitForFunction('navigator.clipboard.readText().then((text) => text !== "")');
    texts.push(String(await page.evaluate('navigator.clipboard.readText()')));
  }
  return texts;
}

/** What a command prints; that of a stream ends with its first event. */
async function outputOf(command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, PYTHONUNBUFFERED: '1' },
  });
  let output = '';
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    if (/^data: /m.test(output)) break;
  }
  child.kill();
  await child.exited;
  return output || new Response(child.stderr).text();
}
