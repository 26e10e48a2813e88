import { afterEach, expect, test } from 'bun:test';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { GOOD } from '../../support/feeds/feed-bench.ts';
import { StubServer } from '../../support/feeds/stub-server.ts';
import { newDatabase } from '../../support/postgres.ts';
import { eventually, spawnOpenpit } from '../../support/program.ts';

const started: Bun.Subprocess[] = [];
let ledger: Ledger | undefined;
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
  await ledger?.close();
});

/** Replicas look for due feeds every 10 s, and time runs ten times as fast in this test. */
const NEXT_LOOK_MS = 30_000;

const server = new StubServer();

/** Starts the feeds of a replica as a process, and waits for their first turn. */
async function startFeeds(url: string): Promise<Bun.Subprocess<'ignore', 'pipe', 'pipe'>> {
  const child = spawnOpenpit([url, server.url], {}, 'test/support/feeds/feed-loop.ts');
  started.push(child);
  let said = '';
  for await (const bytes of child.stdout) {
    said += new TextDecoder().decode(bytes);
    if (said.includes('ready')) return child;
  }
  throw new Error(`it ended: ${await new Response(child.stderr).text()}`);
}

test('one replica runs a feed; when it is killed, another takes over after its lease has expired', async () => {
  const url = await newDatabase();
  ledger = await Ledger.open(url, systemClock);
  await ledger.feeds.enable('stub', systemClock.now(), systemClock.now() + 86_400_000);
  server.respond = () => new Promise<Response>(() => {}); // the provider does not respond, and the holder waits for it

  const holder = await startFeeds(url);
  await eventually(async () => server.requests.length === 1, NEXT_LOOK_MS);
  await startFeeds(url);
  await startFeeds(url);
  holder.kill('SIGKILL');
  await holder.exited;
  await Bun.sleep(3_000); // each of the others has looked again
  expect(server.requests).toHaveLength(1); // the lease is still valid: nobody can know that its holder has died

  server.respond = () => new Response(GOOD);
  await ledger.engine.write((tx) => tx`UPDATE feed SET lease_until = 1`); // three minutes pass
  await eventually(async () => (await ledger!.feeds.history(1))[0]?.status === 'ok', NEXT_LOOK_MS);
  const runs = await ledger.feeds.history(10, 'stub');
  expect(runs.map(({ number, status, taken }) => ({ number, status, taken }))).toEqual([
    { number: 2, status: 'ok', taken: 20 },
    { number: 1, status: 'failed', taken: 0 },
  ]);
  expect(server.requests).toHaveLength(2);
}, 180_000);
