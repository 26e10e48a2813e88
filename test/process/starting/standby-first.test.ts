import { expect, test } from 'bun:test';
import { newFolder } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';
import { ReplicatedPostgres } from '../../support/replication/replicated-postgres.ts';

test('a start waits until one of the hosts accepts writes, also with several processes', async () => {
  const postgres = await ReplicatedPostgres.start('asynchronous');
  const settings = {
    OPENPIT_DATABASE_URL: postgres.url,
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
    OPENPIT_PROCESSES: '2',
  };
  try {
    expect((await openpit(['migrate'], settings)).exitCode).toBe(0);
    await postgres.caughtUp();
    await postgres.primary.end('SIGKILL');
    const starting = Program.start(settings);
    await Bun.sleep(3_000); // by now it is waiting, or has given up
    await postgres.promote();
    const program = await starting;
    expect(program.stderr).toContain('waiting for PostgreSQL');
    await eventually(async () => (await program.get('/health')).status === 200);
    await program.end();
  } finally {
    await postgres.remove();
  }
}, 180_000);
