import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { newFolder } from '../../support/ledger.ts';
import { openpit, openpitOnTerminal, Program, spawnOpenpit } from '../../support/program.ts';

const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };

let program: Program;
let key: string;
let price = 2_000;
beforeAll(async () => {
  await publish();
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  key = JSON.parse(created.stdout).key;
  program = await Program.start(settings);
}, 60_000);
afterAll(() => program.end());

/** Imports a new price of a symbol for the same day. */
async function publish(symbol = 'XAU'): Promise<void> {
  price++;
  const file = join(settings.OPENPIT_DATA_DIR, 'prices.csv');
  await Bun.write(file, `date,close\n2024-05-14,${price}\n`);
  expect(await openpit(['import', file, '--symbol', symbol], settings)).toMatchObject({ exitCode: 0 });
}

/** Starts `openpit watch XAU`, publishes a price after its first line, and stops it with Ctrl-C after the second. */
async function watched(
  args: string[],
  env: Record<string, string>,
  published = 'XAU',
): Promise<{ lines: string[]; exitCode: number }> {
  const child = spawnOpenpit(['watch', 'XAU', ...args], env);
  const lines: string[] = [];
  let text = '';
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk);
    const complete = text.split('\n').slice(0, -1);
    if (complete.length === lines.length) continue;
    lines.splice(0, lines.length, ...complete);
    if (lines.length === 1) await publish(published);
    else break;
  }
  child.kill('SIGINT');
  return { lines, exitCode: await child.exited };
}

test('openpit watch prints each new price of the ledger on this machine, and ends with Ctrl-C', async () => {
  const { lines, exitCode } = await watched([], settings);
  expect(lines).toEqual([`2024-05-14 XAU ${price - 1} USD/T.oz`, `2024-05-14 XAU ${price} USD/T.oz`]);
  expect(exitCode).toBe(0);
}, 60_000);

test('openpit watch --url streams from a server, as JSON if that is wanted', async () => {
  const { lines, exitCode } = await watched(['--json', '--url', program.url], { OPENPIT_KEY: key });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { symbol: 'XAU', rate: price - 1, quote: 'USD', unit: 'T.oz' },
    { symbol: 'XAU', rate: price, quote: 'USD', unit: 'T.oz' },
  ]);
  expect(exitCode).toBe(0);
}, 60_000);

test('openpit watch waits for a symbol that has no price yet', async () => {
  const { lines, exitCode } = await watched(['PL'], settings, 'PL');
  expect(lines).toEqual([`2024-05-14 XAU ${price - 1} USD/T.oz`, `2024-05-14 PL ${price} USD/T.oz`]);
  expect(exitCode).toBe(0);
}, 60_000);

test('openpit watch explains what is wrong with a request', async () => {
  const { exitCode, stderr } = await openpit(['watch', 'GOLDD', '--url', program.url], { OPENPIT_KEY: key });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('did you mean XAU');
}, 60_000);

test('openpit watch ends with the next price when nobody reads its output any more, as after head', async () => {
  const toHead = ['sh', '-c', '"$@" | head -n 1', 'sh'];
  for (const args of [['XAU'], ['XAU', '--json', '--url', program.url]]) {
    const env = { ...settings, OPENPIT_KEY: key };
    const child = spawnOpenpit(['watch', ...args], env, undefined, toHead);
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toContain('XAU');
    await publish();
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stderr).text()).toBe('');
  }
}, 60_000);

test('openpit watch on a small terminal draws what fits, each time in the same place, and ends with Ctrl-C', async () => {
  const [cols, rows] = [40, 4];
  const symbols = ['XAU', 'XAG', 'XPT', 'XPD', 'EUA'];
  const file = join(settings.OPENPIT_DATA_DIR, 'others.csv');
  const prices = symbols.slice(1).map((symbol) => `2024-05-14,${symbol},1.25`);
  await Bun.write(file, ['date,symbol,close', ...prices, ''].join('\n'));
  expect(await openpit(['import', file, '--symbol-column', 'symbol'], settings)).toMatchObject({
    exitCode: 0,
  });

  let text = '';
  let isStopped = false;
  const child = openpitOnTerminal(['watch', ...symbols], settings, {
    cols,
    rows,
    data: (terminal, chunk) => {
      text += new TextDecoder().decode(chunk);
      if (isStopped || !(text.includes('4 more') || text.includes('EUA'))) return;
      isStopped = true;
      terminal.write('\x03');
    },
  });
  expect(await child.exited).toBe(0);
  const lines = text.split('\n').map((line) => Bun.stripANSI(line).trimEnd());
  expect(lines.filter((line) => Bun.stringWidth(line) > cols)).toEqual([]);
  expect(text).toContain('… and 4 more');
  const ups = [...text.matchAll(/\[(\d+)A/g)].map(([, up]) => Number(up));
  expect(Math.max(...ups)).toBeLessThan(rows);
}, 60_000);
