import { describe, setDefaultTimeout } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase } from './postgres.ts';

export const ENGINES = ['sqlite', 'postgres'] as const;
export type EngineName = (typeof ENGINES)[number];

/** The URL of a new, empty ledger. */
export async function newLedgerUrl(engine: EngineName): Promise<string> {
  return engine === 'postgres' ? newDatabase() : join(newFolder(), 'ledger.db');
}

const folders: string[] = [];

/** A new, empty folder that is deleted after the test run. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-test-'));
  folders.push(folder);
  return folder;
}

const onRemoved: (() => void)[] = [];

/** Calls back after the folders were deleted. `npm run explore` runs a file again in the same process. */
export function onFoldersRemoved(listener: () => void): void {
  onRemoved.push(listener);
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  for (const listener of onRemoved) listener();
}

/**
 * A start of PostgreSQL takes 1 s, and more than Bun's 5 s on a busy machine. Bun ends the child processes of a hook
 * that timed out, so that every later test would fail too.
 */
const TIMEOUT_MS = 180_000;

/** `npm run test:quick` leaves PostgreSQL out. */
const CHOSEN_ENGINES = ENGINES.filter((engine) => process.env.OPENPIT_TEST_ENGINES?.includes(engine) ?? true);

/** Runs the same tests on both engines. */
export function onEachEngine(title: string, tests: (engine: EngineName) => void): void {
  setDefaultTimeout(TIMEOUT_MS); // of this file; what a preload sets is gone after the first
  for (const engine of CHOSEN_ENGINES) describe(`${title} on ${engine}`, () => tests(engine));
}

/** Runs tests of what only PostgreSQL has. */
export function onPostgres(title: string, tests: () => void): void {
  setDefaultTimeout(TIMEOUT_MS);
  if (CHOSEN_ENGINES.includes('postgres')) describe(title, tests);
}
