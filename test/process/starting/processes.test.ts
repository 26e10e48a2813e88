import { afterEach, expect, test } from 'bun:test';
import { childrenOf } from '../../support/child-processes.ts';
import { freePort } from '../../support/http/free-port.ts';
import { newFolder } from '../../support/ledger.ts';
import { load } from '../../support/load.ts';
import { eventually, openpit, PROGRAM_COMMAND, Program, spawnOpenpit } from '../../support/program.ts';

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

test('a second signal ends all processes at once, although a request is in progress', async () => {
  await start();
  const children = childrenOf(program!.pid);
  const { hostname, port } = new URL(program!.url);
  // Enough connections for each process to have one.
  for (let i = 0; i < 30; i++) {
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } });
    socket.write('GET /health HTTP/1.1\r\n');
  }
  process.kill(program!.pid, 'SIGTERM');
  await Bun.sleep(500);
  expect(children.every(isAlive)).toBe(true);
  process.kill(program!.pid, 'SIGTERM');
  await eventually(async () => !children.some(isAlive), 5_000);
  expect(await program!.exited).toBe(1);
}, 180_000);

test('the processes stop when their supervisor is killed', async () => {
  await start();
  const children = childrenOf(program!.pid);
  await program!.end('SIGKILL');
  await eventually(async () => !children.some(isAlive));
}, 180_000);

test('a second service with several processes does not start on the port of the first', async () => {
  await start();
  const settings = {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
    OPENPIT_PROCESSES: '2',
    OPENPIT_PORT: new URL(program!.url).port,
  };
  const { exitCode, stderr } = await openpit(['serve'], settings);
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    `openpit: another program listens on port ${settings.OPENPIT_PORT}; stop it, or set OPENPIT_PORT\n`,
  );
}, 180_000);

test('of two services with several processes that start on one port at the same time, one starts', async () => {
  const port = String(freePort());
  const services = Array.from({ length: 2 }, () => {
    const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_PROCESSES: '2' };
    const child = spawnOpenpit(['serve'], { ...settings, OPENPIT_PORT: port });
    return { child, logged: new Response(child.stderr).text() };
  });
  const refused = await Promise.race(services.map(({ child, logged }) => child.exited.then(() => logged)));
  expect(refused).toContain(`another program listens on port ${port}`);
  const [serving] = services.filter(({ child }) => child.exitCode === null);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  serving!.child.kill('SIGTERM');
  expect(await serving!.child.exited).toBe(0);
}, 60_000);

test('a supervisor that was killed can be started again at once, while its processes still drain', async () => {
  const { settings } = await start();
  const { port } = new URL(program!.url);
  await program!.end('SIGKILL');
  program = await Program.start({ ...settings, OPENPIT_PORT: port });
  expect((await program.get('/health', '')).status).toBe(200);
}, 180_000);

test('requests to all processes are in the access log on standard output, one whole line each', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_PROCESSES: '3' };
  program = await Program.start({ ...settings, OPENPIT_ACCESS_LOG: '-' });
  const { url } = program;
  const padding = 'x'.repeat(1_000);
  await Promise.all(
    Array.from({ length: 300 }, (_, i) => fetch(`${url}/health?n=${i}&${padding}`, { keepalive: false })),
  );
  await program.end();
  const lines = program.stdout.split('\n').filter((line) => line.startsWith('{'));
  expect(new Set(lines.map((line) => JSON.parse(line).url)).size).toBe(300);
}, 180_000);

test('a stop while the first process prepares starts no other', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_PROCESSES: '3', OPENPIT_PORT: '0' };
  const child = spawnOpenpit(['serve'], settings); // a new demo takes seconds to prepare
  const logged = new Response(child.stderr).text();
  await eventually(async () => childrenOf(child.pid).length > 0);
  const [first] = childrenOf(child.pid);
  const others = new Set<number>();
  await Bun.sleep(1_000); // it has opened its ledger
  child.kill('SIGTERM');
  while (child.exitCode === null) {
    for (const pid of childrenOf(child.pid)) if (pid !== first) others.add(pid);
    await Bun.sleep(5);
  }
  expect(child.exitCode).toBe(0);
  expect(others.size).toBe(0);
  expect(await logged).not.toContain('restarted');
}, 180_000);

test('a later process that dies in its first start is restarted, and then the start is announced', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_PROCESSES: '2' };
  let killed: number | undefined;
  const starting = Program.start(settings);
  const supervisor = () => childrenOf(process.pid).find((pid) => childrenOf(pid).length > 0);
  await eventually(async () => {
    const pid = supervisor();
    killed = pid === undefined ? undefined : childrenOf(pid)[1];
    if (killed !== undefined) process.kill(killed, 'SIGKILL');
    return killed !== undefined;
  });
  program = await starting;
  expect(childrenOf(program.pid)).toHaveLength(2);
  expect(childrenOf(program.pid)).not.toContain(killed);
}, 180_000);

test('a service with an IPC channel to another program, such as a process manager, starts', async () => {
  const child = Bun.spawn([...PROGRAM_COMMAND, 'serve'], {
    env: { ...process.env, OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    ipc() {},
  });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toContain('Openpit listens on');
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
}, 30_000);
