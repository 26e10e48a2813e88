import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { newFolder } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

/** Sets the title of the terminal, conceals text, and reverses the direction of the rest of the line. */
const HOSTILE = '\x1b]0;title\x07\x1b[8m\x7f\x9b8m\u202e';
const SHOWN = '\\u001b]0;title\\u0007\\u001b[8m\\u007f\\u009b8m\\u202e';

const folder = newFolder();
const settings = { OPENPIT_DATA_DIR: folder, OPENPIT_DEMO: 'false', OPENPIT_KEY: 'any' };

async function fileWith(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await Bun.write(file, text);
  return file;
}

/** A server whose responses are as hostile as can be. */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) =>
    new URL(request.url).searchParams.get('symbols') === 'XAU'
      ? Response.json({
          rates: { XAU: 1 },
          metadata: { XAU: { quote: HOSTILE, unit: 'kg', source: HOSTILE, at: '2024-01-02' } },
        })
      : Response.json({ message: HOSTILE, code: 'unknown_symbol' }, { status: 404 }),
});
afterAll(() => server.stop(true));

test.each([
  ['a row that is refused', `date,close\n2024-01-02,"1${HOSTILE}"\n`],
  ['an unknown column', `date,a${HOSTILE},b\n2024-01-02,1,2\n`],
])('an imported file cannot send commands to the terminal: %s', async (_, content) => {
  const file = await fileWith('prices.csv', content);
  const { exitCode, stdout, stderr } = await openpit(['import', file, '--symbol', 'XAU'], settings);
  expect(exitCode).toBe(1);
  expect(stdout + stderr).toContain(SHOWN);
  expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
});

test('a server cannot send commands to the terminal, with its prices or with its errors', async () => {
  const latest = (symbol: string, ...more: string[]) =>
    openpit(['latest', symbol, '--url', server.url.origin, ...more], settings);
  const prices = await latest('XAU');
  expect(prices).toMatchObject({ exitCode: 0, stderr: '' });
  expect(prices.stdout).toContain(SHOWN);
  const refusal = await latest('XAG');
  expect(refusal).toMatchObject({ exitCode: 2, stdout: '', stderr: `openpit: ${SHOWN}\n` });
  expect(prices.stdout).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
  const json = await latest('XAU', '--json');
  expect(JSON.parse(json.stdout).metadata.XAU.source).toBe(HOSTILE);
});
