import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { demoFolder } from '../../support/database/demo-folder.ts';
import { EventReader } from '../../support/http/events.ts';
import { freePort } from '../../support/http/free-port.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

const NGINX = Bun.which('nginx') ?? ((await Bun.file('/usr/sbin/nginx').exists()) ? '/usr/sbin/nginx' : null);
const title = NGINX ? 'behind nginx' : 'behind nginx (skipped: nginx is not installed)';
const SHIPPED = await Bun.file(join(import.meta.dir, '../../../deploy/nginx.conf')).text();

describe.skipIf(!NGINX)(title, () => {
  setDefaultTimeout(180_000);
  const settings = { OPENPIT_DATA_DIR: '', OPENPIT_TRUSTED_PROXIES: '127.0.0.1' };
  const proxies: Bun.Subprocess[] = [];
  let program: Program;

  /** Runs nginx with a configuration and returns its address. */
  const start = async (configuration: (port: number) => string): Promise<string> => {
    const port = freePort();
    const folder = newFolder();
    const path = join(folder, 'nginx.conf');
    await Bun.write(path, configuration(port));
    const globals = `daemon off; pid ${folder}/nginx.pid;`;
    proxies.push(
      Bun.spawn([NGINX!, '-p', folder, '-c', path, '-g', globals], { stdout: 'ignore', stderr: 'ignore' }),
    );
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await fetch(`${url}/health`).catch(() => undefined))?.status === 200);
    return url;
  };
  /** The shipped configuration, before one replica, for at most `connections` of a client. */
  const shipped = (connections: number) => (port: number) =>
    SHIPPED.replace(/worker_processes auto/, 'worker_processes 1')
      .replace(/server (one|two|three):8080/g, `server ${new URL(program.url).host}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('limit_conn clients 256', `limit_conn clients ${connections}`);
  const keyFor = async (address: string): Promise<string> => {
    const { stdout } = await openpit(
      ['key', 'create', '--account', 'acc_demo', '--allow-ip', address, '--json'],
      settings,
    );
    return JSON.parse(stdout).key;
  };
  const statusOf = async (url: string, headers: Record<string, string>) =>
    (await fetch(url, { headers })).status;

  beforeAll(async () => {
    settings.OPENPIT_DATA_DIR = await demoFolder();
    program = await Program.start(settings);
  });
  afterAll(async () => {
    for (const proxy of proxies) proxy.kill();
    await program?.end();
  });

  test('the shipped configuration is valid under systemd, where standard error is a socket', async () => {
    const folder = newFolder();
    const path = join(folder, 'nginx.conf');
    await Bun.write(path, shipped(256)(freePort()));
    const globals = `pid ${folder}/nginx.pid;`;
    const check = Bun.spawn([NGINX!, '-t', '-p', folder, '-c', path, '-g', globals], { stderr: 'pipe' });
    const stderr = await new Response(check.stderr).text(); // Bun's pipe is a socket, too
    expect({ exitCode: await check.exited, stderr }).toMatchObject({ exitCode: 0 });
  });

  test('a client cannot choose its address', async () => {
    const url = await start(shipped(256));
    const [here, elsewhere] = [await keyFor('127.0.0.1'), await keyFor('203.0.113.7')];
    for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip']) {
      const lie = { [header]: header === 'forwarded' ? 'for=203.0.113.7' : '203.0.113.7' };
      expect(await statusOf(`${url}/usage`, { 'x-api-key': elsewhere, ...lie }), header).toBe(403);
      expect(await statusOf(`${url}/usage`, { 'x-api-key': here, ...lie }), header).toBe(200);
    }
  });

  test('neither metrics nor the demo key are exposed', async () => {
    const url = await start(shipped(256));
    expect(await statusOf(`${url}/metrics`, {})).toBe(401);
    const config = await fetch(`${url}/console/config`, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(await config.json()).not.toHaveProperty('given');
  });

  test('a client at its connection limit is refused, and /health is not', async () => {
    const url = await start(shipped(2));
    const open = () => EventReader.open(`${url}/rates/stream?symbols=XAU`, { 'x-api-key': program.key });
    const streams = [await open(), await open()];
    expect(await statusOf(`${url}/symbols`, { 'x-api-key': program.key })).toBe(429);
    expect(await statusOf(`${url}/health`, {})).toBe(200);
    for (const stream of streams) await stream.close();
  });

  test('behind a proxy that hides itself, the demo key is not exposed once there are real prices', async () => {
    const url = await start(
      (port) => `error_log /dev/null; events {}
        http { access_log off; server { listen 127.0.0.1:${port}; location / { proxy_pass ${program.url}; } } }`,
    );
    const isGiven = async () => {
      const config = await fetch(`${url}/console/config`, { headers: { 'sec-fetch-site': 'same-origin' } });
      return 'given' in ((await config.json()) as object);
    };
    expect(await isGiven()).toBe(true); // indistinguishable from a local browser, and all prices are simulated
    const file = join(newFolder(), 'gold.csv');
    await Bun.write(file, 'date,close\n2024-05-14,2358\n');
    expect(await openpit(['import', file, '--symbol', 'XAU'], settings)).toMatchObject({ exitCode: 0 });
    await eventually(async () => !(await isGiven()));
  });

  test('behind a proxy that hides itself, /metrics requires the admin token if one is set', async () => {
    const token = 'a-long-token-of-the-operator';
    const guarded = await Program.start({
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_ADMIN_TOKEN: token,
    });
    const url = await start(
      (port) => `error_log /dev/null; events {}
        http { access_log off; server { listen 127.0.0.1:${port}; location / { proxy_pass ${guarded.url}; } } }`,
    );
    expect(await statusOf(`${url}/metrics`, {})).toBe(401);
    expect(await statusOf(`${url}/metrics`, { authorization: `Bearer ${token}` })).toBe(200);
    await guarded.end();
  });
});
