import { afterEach, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { childrenOf } from '../../support/child-processes.ts';
import { TcpProxy } from '../../support/http/tcp-proxy.ts';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { eventually, openpit, Program, spawnOpenpit } from '../../support/program.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

/** PostgreSQL's response to every connection while it starts and replays its log. */
const STARTING_UP = errorResponse('57P03', 'the database system is starting up');

test('a start waits for a PostgreSQL that is starting up, and logs the wait', async () => {
  const url = await newDatabase();
  const proxy = await TcpProxy.open(Number(new URL(url).port));
  endings.push(() => proxy.close());
  proxy.refuse = true;
  proxy.refusal = STARTING_UP;
  const waits = Promise.withResolvers<void>();
  const settings = {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DATABASE_URL: proxy.through(url),
    OPENPIT_DEMO: 'false',
  };
  const starting = Program.start(settings, undefined, (log) => {
    if (log.includes('"event":"waiting for PostgreSQL"')) waits.resolve();
  });
  await waits.promise;
  proxy.refuse = false;
  const program = await starting;
  endings.push(() => program.end('SIGKILL'));
  expect((await program.get('/health')).status).toBe(200);
}, 180_000);

test('if PostgreSQL does not come up, the start ends with exit code 1 and a line that names the setting', async () => {
  const { exitCode, stderr } = await openpit(['serve'], {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    OPENPIT_DATABASE_WAIT_SECONDS: '6',
  });
  expect(exitCode).toBe(1);
  expect(stderr.match(/waiting for PostgreSQL/g)).toHaveLength(2); // every 5 s
  const last = stderr.trim().split('\n').at(-1);
  expect(last).toContain('PostgreSQL could not be reached for 6 s');
  expect(last).toContain('OPENPIT_DATABASE_URL');
}, 180_000);

/** As in a container: the first process of a PID namespace ignores signals that it has no handler for. */
const AS_FIRST_PROCESS = ['unshare', '--user', '--map-root-user', '--pid', '--fork'];

test.skipIf(!Bun.which('unshare') || Bun.spawnSync([...AS_FIRST_PROCESS, 'true']).exitCode !== 0)(
  'a signal ends a start that waits for PostgreSQL, also as the first process of a container',
  async () => {
    const settings = {
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    };
    const child = spawnOpenpit(['serve'], settings, undefined, AS_FIRST_PROCESS);
    const { value } = await child.stderr.getReader().read();
    expect(new TextDecoder().decode(value)).toContain('waiting for PostgreSQL');
    const [first] = childrenOf(child.pid);
    endings.push(() => child.exitCode === null && process.kill(first!, 'SIGKILL'));
    process.kill(first!, 'SIGTERM');
    expect(await Promise.race([child.exited, Bun.sleep(10_000)])).toBe(0);
  },
  60_000,
);

test('a PostgreSQL without a free connection, a wrong password and a wrong database: the last line says what to change', async () => {
  const url = await newDatabase();
  const proxy = await TcpProxy.open(Number(new URL(url).port));
  endings.push(() => proxy.close());
  proxy.refuse = true;
  proxy.refusal = errorResponse('53300', 'sorry, too many clients already');
  const lastLine = async (databaseUrl: string) => {
    const { exitCode, stderr } = await openpit(['serve'], {
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DATABASE_URL: databaseUrl,
      OPENPIT_DATABASE_WAIT_SECONDS: '1',
    });
    expect(exitCode).toBe(1);
    return stderr.trim().split('\n').at(-1);
  };
  expect(await lastLine(proxy.through(url))).toMatch(/too many clients already \(raise max_connections/);
  const wrong = new URL(url);
  wrong.password = 'hunter2';
  expect(await lastLine(wrong.href)).toMatch(/authentication failed .*\(correct user and password/);
  const other = new URL(url);
  other.pathname = '/no_such_database';
  expect(await lastLine(other.href)).toMatch(/does not exist \(create the database/);
}, 180_000);

test('a database that is set to read-only: commands say so, and a service that nobody uses is not ready either', async () => {
  const url = await newDatabase();
  const settings = {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DATABASE_URL: url,
    OPENPIT_DEMO: 'false',
  };
  const program = await Program.start(settings);
  endings.push(() => program.end('SIGKILL'));
  const sql = new SQL({ url, max: 1 });
  const setReadOnly = async (value: string) => {
    await sql.unsafe(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = ${value}`,
    );
    await sql.unsafe(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
  };
  await setReadOnly('on');
  const refused = await openpit(['account', 'create', '--name', 'A', '--plan', 'basic'], settings);
  expect(refused.stderr).toMatch(/read-only transaction \(OPENPIT_DATABASE_URL must name the primary/);
  await eventually(async () => (await program.get('/health')).status === 503);
  await eventually(async () => program.stderr.includes('PostgreSQL accepts only reads'));
  await setReadOnly('off');
  await eventually(async () => (await program.get('/health')).status === 200);
  await sql.close();
}, 180_000);

test('with several processes the first one waits for it too', async () => {
  const { exitCode, stderr } = await openpit(['serve', '--processes', '2'], {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    OPENPIT_DATABASE_WAIT_SECONDS: '1',
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('waiting for PostgreSQL');
}, 180_000);

/** An ErrorResponse of PostgreSQL's protocol. */
function errorResponse(state: string, message: string): Uint8Array {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${state}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
