import { expect, test } from 'bun:test';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/http/free-port.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, PROGRAM_COMMAND } from '../../support/program.ts';

/** More than a pipe holds. */
const REQUESTS = 1_000;

test('the service serves and stops although nobody reads its logs', async () => {
  const port = freePort();
  const pipe = join(newFolder(), 'pipe');
  Bun.spawnSync(['mkfifo', pipe]);
  const unread = openSync(pipe, constants.O_RDWR); // for writing alone, opening would wait for a reader
  const program = Bun.spawn([...PROGRAM_COMMAND, 'serve', '--port', String(port)], {
    env: {
      ...process.env,
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_LOG_LEVEL: 'debug',
      OPENPIT_ACCESS_LOG: '-',
    },
    stdio: ['ignore', unread, unread],
  });
  try {
    const health = () => fetch(`http://127.0.0.1:${port}/health`);
    await eventually(async () => (await health().catch(() => undefined))?.status === 200);
    for (let i = 0; i < REQUESTS; i++) await fetch(`http://127.0.0.1:${port}/rates/latest?symbols=XAU`);
    expect((await health()).status).toBe(200);
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  } finally {
    program.kill('SIGKILL');
    closeSync(unread);
  }
}, 60_000);
