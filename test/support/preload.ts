import { afterAll } from 'bun:test';
import fc from 'fast-check';
import { removeFolders } from './ledger.ts';
import { stopPostgres } from './postgres.ts';

/** `npm test` tries the same inputs every time. `npm run explore` sets `fresh`, or the seed of a failure. */
const seed = Bun.env.OPENPIT_TEST_SEED ?? '20240515';
if (seed !== 'fresh') fc.configureGlobal({ seed: Number(seed) });

afterAll(stopPostgres);
afterAll(removeFolders);
