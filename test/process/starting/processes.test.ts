import { afterEach, expect, test } from 'bun:test';
import { childrenOf } from '../../support/child-processes.ts';
import { newFolder } from '../../support/ledger.ts';
import { load } from '../../support/load.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

async function start(): Promise<{ settings: Record<string, string>; key: string }> {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_PROCESSES: '3' };
  await openpit(['plan', 'set', 'test', '--quota', '1000', '--burst', '1000000'], settings);
  const { stdout } = await openpit(
    ['account', 'create', '--name', 'A', '--plan', 'test', '--json'],
    settings,
  );
  program = await Program.start(settings);
  return { settings, key: JSON.parse(stdout).key };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('three processes on one port share one quota exactly', async () => {
  const { key } = await start();
  expect(childrenOf(program!.pid)).toHaveLength(3);
  const { statuses, broken } = await load({
    url: `${program!.url}/symbols`,
    key,
    connections: 48,
    requests: 2_000,
  });
  expect({ answered: statuses.get(200), refused: statuses.get(429), broken }).toEqual({
    answered: 1_000,
    refused: 1_000,
    broken: 0,
  });
  expect(await (await program!.get('/usage', key)).json()).toMatchObject({ used: 1_000 });
}, 180_000);

test('a killed process is restarted, and a stop ends all of them without losing counts', async () => {
  const { settings, key } = await start();
  const before = childrenOf(program!.pid);
  process.kill(before[1]!, 'SIGKILL');
  await eventually(async () => {
    const now = childrenOf(program!.pid);
    return now.length === 3 && !now.includes(before[1]!);
  });
  await load({ url: `${program!.url}/symbols`, key, connections: 12, requests: 300 });
  const children = childrenOf(program!.pid);
  expect(await program!.end()).toBe(0);
  expect(children.filter(isAlive)).toEqual([]);
  const { stdout } = await openpit(['account', 'list', '--json'], settings);
  expect(JSON.parse(stdout)).toMatchObject([{ used: 300 }]);
}, 180_000);

test('a signal to all processes at once, as from a terminal, ends them without losing counts', async () => {
  const { settings, key } = await start();
  await load({ url: `${program!.url}/symbols`, key, connections: 12, requests: 300 });
  for (const pid of childrenOf(program!.pid)) process.kill(pid, 'SIGINT');
  expect(await program!.end('SIGINT')).toBe(0);
  const { stdout } = await openpit(['account', 'list', '--json'], settings);
  expect(JSON.parse(stdout)).toMatchObject([{ used: 300 }]);
}, 180_000);

test('the processes stop when their supervisor is killed', async () => {
  await start();
  const children = childrenOf(program!.pid);
  await program!.end('SIGKILL');
  await eventually(async () => !children.some(isAlive));
}, 180_000);
