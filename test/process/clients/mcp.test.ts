import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { newFolder } from '../../support/ledger.ts';
import { openpit, PROGRAM_COMMAND, Program } from '../../support/program.ts';

const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };

let program: Program;
let key: string;
beforeAll(async () => {
  const file = join(settings.OPENPIT_DATA_DIR, 'gold.csv');
  await Bun.write(file, 'date,close\n2024-05-13,2336.1\n2024-05-14,2358.2\n');
  expect(await openpit(['import', file, '--symbol', 'XAU'], settings)).toMatchObject({ exitCode: 0 });
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  key = JSON.parse(created.stdout).key;
  program = await Program.start(settings);
}, 60_000);
afterAll(() => program.end());

/** Starts `openpit mcp` as an agent does, asks one question, and disconnects. */
async function ask(
  args: string[],
  env: Record<string, string>,
  name: string,
  given: Record<string, unknown>,
) {
  const client = new Client({ name: 'test', version: '1' });
  const [command, ...before] = PROGRAM_COMMAND;
  await client.connect(
    new StdioClientTransport({ command: command!, args: [...before, 'mcp', ...args], env }),
  );
  const { content } = await client.callTool({ name, arguments: given });
  await client.close();
  return (content as { text: string }[])[0]!.text;
}

const QUESTION = { symbols: ['XAU'], date: '2024-05-14' };
const ANSWER =
  'XAU: 2358.2 USD per troy ounce (T.oz), close of 2024-05-14; open 2358.2, high 2358.2, low 2358.2; source: import';

async function used(): Promise<number> {
  const response = await program.get('/usage', key);
  return ((await response.json()) as { used: number }).used;
}

test('openpit mcp answers from the ledger on this machine, and counts nothing', async () => {
  expect(await ask([], settings, 'price_on_date', QUESTION)).toStartWith(ANSWER);
  expect(await used()).toBe(0);
  expect(await ask([], settings, 'usage', {})).toBe(
    'Only servers answer this: requests to a ledger are not counted',
  );
}, 60_000);

test('openpit mcp --url asks a server with OPENPIT_KEY, and the request is counted', async () => {
  expect(await ask(['--url', program.url], { OPENPIT_KEY: key }, 'price_on_date', QUESTION)).toStartWith(
    ANSWER,
  );
  expect(await used()).toBe(1);
}, 60_000);

test('openpit mcp --url without a key explains how to send one', async () => {
  const text = await ask(['--url', program.url], {}, 'price_on_date', QUESTION);
  expect(text).toContain('set OPENPIT_KEY');
  expect(await used()).toBe(1);
}, 60_000);

test('openpit mcp answers every request before it ends, also if standard input is closed first', async () => {
  const clientInfo = { name: 'test', version: '1' };
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const call = { name: 'price_on_date', arguments: QUESTION };
  const messages = [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: call },
    { id: 3, method: 'tools/call', params: call },
  ];
  const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const child = Bun.spawn([...PROGRAM_COMMAND, 'mcp'], {
    env: settings,
    stdin: new Blob(lines),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const answers = (await child.stdout.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(await child.exited).toBe(0);
  expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
  expect(answers.at(-1).result.content[0].text).toStartWith(ANSWER);
}, 60_000);
