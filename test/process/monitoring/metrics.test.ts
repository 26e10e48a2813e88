import { afterEach, expect, test } from 'bun:test';
import { childrenOf } from '../../support/child-processes.ts';
import { newFolder } from '../../support/ledger.ts';
import { hasPromtool, promtool, sample } from '../../support/monitoring/metrics.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

let program: Program | undefined;
const paused = new Set<number>();
afterEach(async () => {
  for (const pid of paused) process.kill(pid, 'SIGCONT');
  paused.clear();
  await program?.end('SIGKILL');
  program = undefined;
});

const ups = (page: string) =>
  [0, 1, 2].map((process) => sample(page, `openpit_process_up{process="${process}"}`));

test('one scrape of a shared port has the metrics of all processes, whichever it reaches', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false', OPENPIT_PROCESSES: '3' };
  program = await Program.start(settings);
  const pages = await Promise.all(Array.from({ length: 12 }, () => program!.metrics()));
  for (const page of pages) {
    expect(ups(page)).toEqual([1, 1, 1]);
    for (const process of [0, 1, 2]) expect(sample(page, `openpit_ready{process="${process}"}`)).toBe(1);
    expect(page.match(/^# TYPE openpit_ready /gm)).toHaveLength(1);
  }
  if (hasPromtool) expect(await promtool(['check', 'metrics'], pages[0])).toEqual([0, '']);
  const [, second] = childrenOf(program.pid);
  process.kill(second!, 'SIGSTOP');
  paused.add(second!);
  // The kernel may hand the connection to the stopped process; a scrape that reaches another one succeeds.
  let page = '';
  await eventually(async () => {
    page = await fetch(`${program!.url}/metrics`, { signal: AbortSignal.timeout(4_000) }).then(
      (response) => response.text(),
      () => '',
    );
    return page !== '';
  }, 180_000);
  expect(ups(page).toSorted()).toEqual([0, 1, 1]);
}, 180_000);

test('feed runs and ledger calls of the feed thread are counted in the serving process', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await openpit(['feed', 'enable', 'eia'], { ...settings, OPENPIT_EIA_API_KEY: 'k' });
  program = await Program.start(settings); // without the key of its provider a run fails before any request
  const failed = 'openpit_feed_runs_total{feed="eia",status="failed"}';
  await eventually(async () => sample(await program!.metrics(), failed) === 1);
  const page = await program.metrics();
  for (const operation of ['read', 'write']) {
    const calls = `openpit_ledger_seconds_count{thread="feeds",operation="${operation}"}`;
    expect(sample(page, calls)).toBeGreaterThan(0);
  }
}, 180_000);
