import { describe } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase } from './postgres.ts';

export const ENGINES = ['sqlite', 'postgres'] as const;
export type EngineName = (typeof ENGINES)[number];

/** The URL of a new, empty ledger. */
export async function newLedgerUrl(engine: EngineName): Promise<string> {
  return engine === 'postgres' ? newDatabase() : join(newFolder(), 'ledger.db');
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'openpit-test-'));
}

/** Runs the same tests on both engines. */
export function onEachEngine(title: string, tests: (engine: EngineName) => void): void {
  for (const engine of ENGINES) describe(`${title} on ${engine}`, () => tests(engine));
}
