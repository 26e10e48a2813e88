import { afterEach, expect, test } from 'bun:test';
import { TcpProxy } from '../../support/http/tcp-proxy.ts';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { openpit, Program } from '../../support/program.ts';

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
