import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, Program } from '../../support/program.ts';

const TOKEN = 'a-long-token-of-the-operator';

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

interface ReplicaList {
  newestRevision: number;
  replicas: { id: string; name: string; phase: string; revision: number; behind: number }[];
}

async function listReplicas(): Promise<ReplicaList> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  return (await (await fetch(`${program!.url}/admin/replicas`, { headers })).json()) as ReplicaList;
}

test('each of three processes is one replica; a killed one stays listed, and a stop leaves none', async () => {
  const dataDir = newFolder();
  program = await Program.start({
    OPENPIT_DATA_DIR: dataDir,
    OPENPIT_DEMO: 'false',
    OPENPIT_PROCESSES: '3',
    OPENPIT_ADMIN_TOKEN: TOKEN,
  });
  await eventually(async () => (await listReplicas()).replicas.length === 3);
  const { replicas, newestRevision } = await listReplicas();
  expect(new Set(replicas.map(({ name }) => name)).size).toBe(3);
  for (const one of replicas)
    expect(one).toMatchObject({ phase: 'ready', behind: 0, revision: newestRevision });
  const [killed] = replicas;
  process.kill(Number(killed!.name.split('/').at(-1)), 'SIGKILL');
  // The kernel may have assigned the connection to the killed process.
  const count = () =>
    listReplicas().then(
      ({ replicas }) => replicas.length,
      () => 0,
    );
  await eventually(async () => (await count()) === 4);
  expect(await program.end()).toBe(0);
  const ledger = await Ledger.open(join(dataDir, 'openpit.db'), systemClock);
  expect((await ledger.replicas.list()).replicas.map(({ id }) => id)).toEqual([killed!.id]);
  await ledger.close();
}, 180_000);
