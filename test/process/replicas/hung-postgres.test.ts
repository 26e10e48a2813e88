import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { Cluster, PATH } from '../../replicas/cluster.ts';
import { freePort } from '../../support/http/free-port.ts';
import { eventually } from '../../support/program.ts';
import { createDataFolder } from '../../support/replication/data-folder.ts';
import { PostgresServer } from '../../support/replication/postgres-server.ts';
import { ADMIN_TOKEN } from '../../support/replication/replicas.ts';

/** 5 s, and time for a busy machine. Two timeouts in a row take longer. */
const ANSWER_MS_MAX = 6_500;
/** So many of each kind, one every 250 ms, that the last ones arrive when the first have been answered. */
const ROUNDS = 28;
const EVERY_MS = 250;
const PAST = '/rates/historical?symbols=XAU&date=2026-11-01&asOf=2026-11-02';

const folder = mkdtempSync(join(tmpdir(), 'openpit-hung-'));
chmodSync(folder, 0o755); // as root, the server runs as another user, which needs access
const server = new PostgresServer(folder, freePort());
let cluster: Cluster;

beforeAll(async () => {
  await createDataFolder(server.folder);
  await server.start();
  cluster = await Cluster.start(server.url, 1);
}, 180_000);
afterAll(async () => {
  server.resume();
  await cluster?.end();
  await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

interface Answered {
  status: number;
  ms: number;
}

async function ask(path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Answered> {
  const start = performance.now();
  const response = await fetch(cluster.urls[0] + path, { ...init, headers });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - start };
}

const withKey = (path: string, key: string) => ask(path, { 'x-api-key': key });

function push(round: number): Promise<Answered> {
  const tick = { symbol: 'XAU', price: 100, at: Date.now(), id: `tick ${round}` };
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
  return ask('/admin/ticks?source=desk', headers, { method: 'POST', body: JSON.stringify([tick]) });
}

test('every request is answered within the documented 5 s while PostgreSQL hangs, and served again when it resumes', async () => {
  const { key: known } = await cluster.newAccount(10_000);
  const unused: string[] = [];
  for (let i = 0; i < ROUNDS; i++) unused.push((await cluster.newAccount(10)).key);
  expect((await withKey(PATH, known)).status).toBe(200);
  expect((await withKey(PAST, known)).status).toBe(404); // there is no such price; the reader has its connection
  expect((await push(-1)).status).toBe(200);
  server.pause();
  const asked: Record<string, Promise<Answered>[]> = {};
  const add = (kind: string, answer: Promise<Answered>) => {
    asked[kind] ??= [];
    asked[kind].push(answer);
  };
  for (let round = 0; round < ROUNDS; round++) {
    add('new key', withKey(PATH, unused[round]!));
    add('wrong key', withKey(PATH, createKey(secureRandom)));
    add('past', withKey(PAST, known));
    add('operator', ask('/admin/accounts', { authorization: `Bearer ${ADMIN_TOKEN}` }));
    add('push', push(round));
    await Bun.sleep(EVERY_MS);
  }
  for (const [kind, answers] of Object.entries(asked)) {
    const all = await Promise.all(answers);
    const wrong = all.filter(({ status, ms }) => status !== 503 || ms > ANSWER_MS_MAX);
    expect(wrong.map(({ status, ms }) => `${kind}: ${status} after ${Math.round(ms)} ms`)).toEqual([]);
  }
  server.resume();
  for (const key of unused) await eventually(async () => (await withKey(PATH, key)).status === 200);
}, 180_000);
