import { afterAll, setDefaultTimeout } from 'bun:test';
import { removeFolders } from './ledger.ts';
import { stopPostgres } from './postgres.ts';

// The first test that needs PostgreSQL waits for its start: 1 s, and more than Bun's 5 s on a busy machine.
setDefaultTimeout(60_000);

afterAll(stopPostgres);
afterAll(removeFolders);
