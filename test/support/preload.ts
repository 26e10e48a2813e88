import { afterAll } from 'bun:test';
import { removeFolders } from './ledger.ts';
import { stopPostgres } from './postgres.ts';

afterAll(stopPostgres);
afterAll(removeFolders);
