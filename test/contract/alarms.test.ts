import { expect, test } from 'bun:test';
import type { Webhook } from '../../src/gate/webhook.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { AlarmStore, Claim } from '../../src/ledger/operations/alarms.ts';
import { AlarmPoster, type AlarmPosterOptions } from '../../src/ops/alarm-poster.ts';
import { AlarmReporter } from '../../src/ops/alarm-reporter.ts';
import type { ActiveAlarm } from '../../src/ops/alarms.ts';
import { UnstoredPosts } from '../../src/ops/unstored-posts.ts';
import { createLog } from '../../src/runtime/log/log.ts';
import { newFolder, onEachEngine } from '../support/ledger.ts';
import { fixedClock, ledgersOf, unique } from '../support/ledgers.ts';
import { eventually } from '../support/program.ts';

onEachEngine('alarms', (engine) => {
  const ledgers = ledgersOf(engine);

  test('of ten replicas that notice it at once, one posts its beginning and one its end, and the same when it begins again', async () => {
    const [a, b] = await ledgers.pair();
    const alarm = { name: unique('alarm'), subject: { machine: 'm\u2014\n1' } };
    const occurrences = new Set<string>();
    for (let i = 0; i < 2; i++) {
      for (const kind of ['begin', 'end'] as const) {
        const claim = (store: AlarmStore) =>
          kind === 'begin' ? store.begin(alarm, '', 60_000) : store.end(alarm, 60_000);
        const claims = await Promise.all(Array.from({ length: 10 }, (_, n) => claim((n % 2 ? a : b).alarms)));
        expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1);
        expect(claims.filter(({ state }) => state === 'taken')).toHaveLength(9);
        const [{ occurrence }] = claims as [Claim];
        occurrences.add(`${kind} ${occurrence}`);
        await a.alarms.markDelivered(alarm, occurrence);
        expect((await claim(b.alarms)).state).toBe('delivered');
      }
    }
    expect(occurrences.size).toBe(4);
  });

  test('a replica that took it on and said nothing is followed by another, with the same occurrence', async () => {
    const { alarms } = await ledgers.shared();
    const alarm = { name: unique('alarm') };
    const first = await alarms.begin(alarm, 'once', -1);
    expect(first.state).toBe('claimed');
    expect(await alarms.begin(alarm, 'once', 60_000)).toEqual(first);
    expect(await alarms.begin(alarm, 'once', 60_000)).toEqual({ ...first, state: 'taken' });
  });

  test('the end of an alarm that was not delivered is not posted', async () => {
    const { alarms } = await ledgers.shared();
    const alarm = { name: unique('alarm') };
    expect((await alarms.end(alarm, 60_000)).state).toBe('delivered');
    await alarms.begin(alarm, '', 60_000);
    expect((await alarms.end(alarm, 60_000)).state).toBe('delivered');
  });

  test('it is logged and posted once when it begins and once when it is over, and again when it begins again', async () => {
    const process = processOn(await ledgers.shared());
    const alarm: ActiveAlarm = { name: unique('alarm'), event: { type: 'test' } };
    for (let i = 0; i < 2; i++) {
      await process.has([alarm], 90);
      await process.has([], 9);
    }
    expect(process.lines).toMatchObject([
      { event: 'alarm' },
      { event: 'alarm is over', name: alarm.name, seconds: 90 },
      { event: 'alarm' },
      { event: 'alarm is over', name: alarm.name, seconds: 90 },
    ]);
    expect(process.types()).toEqual(['test', 'alarm.over', 'test', 'alarm.over']);
    const ids = process.posts.map(({ id }) => id);
    expect(ids[1]).toBe(`${ids[0]}.over`);
    expect(new Set(ids).size).toBe(4);
  });

  test('one that ends and returns within seconds is one alarm, and one that goes on in another version is reported again', async () => {
    const process = processOn(await ledgers.shared());
    const name = unique('alarm');
    const version = (number: number) => [
      { name, version: String(number), event: { type: `test.${number}` } },
    ];
    await process.has(version(1), 3);
    await process.has([], 4);
    await process.has(version(2), 3);
    await process.has([], 9);
    expect(process.lines).toMatchObject([{ event: 'alarm' }, { event: 'alarm is over', name, seconds: 10 }]);
    expect(process.types()).toEqual(['test.1', 'alarm.over']);
    await process.has(version(3), 3);
    await process.has(version(4), 3);
    expect(process.lines.slice(2)).toMatchObject([{ event: 'alarm' }, { event: 'alarm' }]);
    expect(process.types().slice(2)).toEqual(['test.3', 'test.4']);
  });

  test('two processes post it once each time, and that of another machine as well', async () => {
    const ledger = await ledgers.new();
    const posts: WebhookPost[] = [];
    const [a, b] = [processOn(ledger, { posts }), processOn(ledger, { posts })];
    const full = (machine: string) => [
      { name: 'disk.full', subject: { machine }, event: { type: 'disk.full', machine } },
    ];
    // In step: a process that is seconds ahead would end the alarm before the other one has asked who posts its beginning.
    const bothHave = async (alarms: readonly ActiveAlarm[], seconds: number) => {
      for (let i = 0; i < seconds; i++) await Promise.all([a.has(alarms, 1), b.has(alarms, 1)]);
    };
    for (let i = 0; i < 2; i++) {
      await bothHave(full('one'), 3);
      await bothHave([], 9);
    }
    expect(posts.map(({ event }) => event.type)).toEqual([
      'disk.full',
      'alarm.over',
      'disk.full',
      'alarm.over',
    ]);
    posts.length = 0;
    await Promise.all([a.has(full('one'), 3), b.has(full('two'), 3)]);
    await Promise.all([a.has([], 9), b.has(full('two'), 9)]);
    expect(posts.map(({ event }) => event.machine).sort()).toEqual(['one', 'one', 'two']);
    expect(posts.at(-1)!.event).toMatchObject({ type: 'alarm.over', alarm: 'disk.full', machine: 'one' });
  });

  test('one that ends while its process restarts is over after a minute, unless another process has it', async () => {
    const ledger = await ledgers.new();
    const event = { type: 'test' };
    const [over, held] = [
      { name: 'over', event },
      { name: 'held', subject: { process: 'b/1' }, event },
    ];
    await processOn(ledger).has([over, held], 2);
    const beat = { id: 'b', name: 'b/1', version: '1', phase: 'ready', revision: 1 };
    await ledger.replicas.beat({ ...beat, alarms: [held] });
    const restarted = processOn(ledger);
    await restarted.has([], 59);
    expect(restarted.posts).toEqual([]);
    await restarted.has([], 3);
    expect(restarted.posts).toMatchObject([{ event: { type: 'alarm.over', alarm: 'over' } }]);
    await processOn(ledger).has([held], 3);
    expect(restarted.posts).toHaveLength(1);
  });

  test('an alarm that a restarted process still has is neither posted again nor ended', async () => {
    const ledger = await ledgers.new();
    const alarm = { name: 'disk.full', event: { type: 'disk.full' } };
    await processOn(ledger).has([alarm], 2);
    const restarted = processOn(ledger);
    await restarted.has([], 15);
    await restarted.has([alarm], 200);
    expect(restarted.posts).toEqual([]);
    await restarted.has([], 9);
    expect(restarted.types()).toEqual(['alarm.over']);
  });

  test('a receiver that hangs delays neither the log nor other posts, nor a stop', async () => {
    const stopping = new AbortController();
    const hanging = { type: 'hangs' };
    const process = processOn(await ledgers.new(), {
      signal: stopping.signal,
      send: (_, event, signal) =>
        event.type === 'hangs'
          ? new Promise((_, reject) => signal!.addEventListener('abort', reject))
          : undefined,
    });
    const alarms = ['one', 'two'].map((name) => ({ name, event: name === 'one' ? hanging : { type: name } }));
    process.run(alarms);
    expect(process.lines.map(({ name }) => name)).toEqual(['one', 'two']);
    await eventually(async () => process.types().includes('two'));
    stopping.abort();
    await process.settled();
    expect(process.lines).toHaveLength(2);
  });

  test('a post that fails is repeated after a minute, with the same id', async () => {
    const tried: string[] = [];
    const ledger = await ledgers.new();
    const process = processOn(ledger, {
      send: async (id) => {
        tried.push(id);
        if (tried.length === 1) throw new Error('the receiver responded with 500');
      },
    });
    const alarm = { name: 'disk.full', event: { type: 'disk.full' } };
    await process.has([alarm], 59);
    expect(tried).toHaveLength(1);
    await ledger.engine.write(
      (tx) =>
        tx`UPDATE meta SET value = replace(value, '"until":', '"until":0,"was":') WHERE name LIKE 'alarm %'`,
    );
    await process.has([alarm], 3);
    expect(tried).toEqual([tried[0]!, tried[0]!]);
    expect(process.types()).toEqual(['disk.full']);
  });

  test('the id is fit for a header, whatever the alarm is about', async () => {
    const process = processOn(await ledgers.new());
    const subject = { machine: 'Zürich — ночь\n' };
    await process.has([{ name: 'tls.renewal_failed', subject, event: { type: 'tls.renewal_failed' } }], 2);
    expect(process.posts[0]!.id).toMatch(/^tls\.renewal_failed\.[0-9a-f]{16}$/);
  });

  test('a ledger that cannot be written to does not keep it back, nor its end', async () => {
    const ledger = await ledgers.new();
    await ledger.engine.write((tx) => tx.unsafe('ALTER TABLE meta RENAME TO hidden'));
    const process = processOn(ledger);
    await process.has([{ name: 'disk.full', event: { type: 'disk.full' } }], 9);
    expect(process.types()).toEqual(['disk.full']);
    await ledger.engine.write((tx) => tx.unsafe('ALTER TABLE hidden RENAME TO meta'));
    await process.has([], 9);
    expect(process.types()).toEqual(['disk.full', 'alarm.over']);
  });

  test('an unreachable ledger is not asked, all replicas post with one id, and one of them posts the end', async () => {
    const ledger = await ledgers.new();
    let isReachable = false;
    const isStoreReachable = () => isReachable;
    const [a, b] = [processOn(ledger, { isStoreReachable }), processOn(ledger, { isStoreReachable })];
    const outage = (since: number) => [
      { name: 'ledger.unreachable', version: '3', since, event: { type: 'ledger.unreachable' } },
    ];
    await a.has(outage(1), 3);
    await b.has(outage(2), 3);
    expect(a.posts).toEqual(b.posts);
    expect(a.types()).toEqual(['ledger.unreachable']);
    isReachable = true;
    await Promise.all([a.has([], 9), b.has([], 9)]);
    expect([...a.types(), ...b.types()].filter((type) => type === 'alarm.over')).toHaveLength(1);
  });

  test('after an outage in which all replicas restart, one of them posts the end of what was posted, and the next outage has another number', async () => {
    const ledger = await ledgers.new();
    const posts: WebhookPost[] = [];
    const dirs = [newFolder(), newFolder()];
    const outage = { name: 'ledger.unreachable', version: '3', event: { type: 'ledger.unreachable' } };
    const full = { name: 'disk.full', subject: { machine: 'one' }, event: { type: 'disk.full' } };
    for (const dir of dirs) {
      const alarms = dir === dirs[0] ? [outage, full] : [outage];
      await processOn(ledger, { posts, dir, isStoreReachable: () => false }).has(alarms, 3);
    }
    expect(posts.map(({ event }) => event.type)).toEqual([outage.name, full.name, outage.name]);
    const [began] = posts.splice(0);
    const restarted = dirs.map((dir) => processOn(ledger, { posts, dir }));
    for (let i = 0; i < 59; i++) for (const process of restarted) await process.has([], 1);
    expect(posts).toEqual([]);
    expect(await ledger.alarms.outages()).toBe(3);
    for (let i = 0; i < 200; i++) for (const process of restarted) await process.has([], 1);
    expect(posts.map(({ event }) => event.alarm).sort()).toEqual(['disk.full', 'ledger.unreachable']);
    expect(posts.map(({ id }) => id)).toContain(`${began!.id}.over`);
    await processOn(ledger, { posts, dir: dirs[0]! }).has([], 200);
    expect(posts).toHaveLength(2);
  });

  test('an alarm that was posted without the ledger, and that the restarted process still has, is neither posted again nor ended', async () => {
    const ledger = await ledgers.new();
    const alarm = { name: 'disk.full', event: { type: 'disk.full' } };
    const dir = newFolder();
    await processOn(ledger, { dir, isStoreReachable: () => false }).has([alarm], 3);
    const restarted = processOn(ledger, { dir });
    await restarted.has([alarm], 200);
    expect(restarted.posts).toEqual([]);
    await restarted.has([], 9);
    expect(restarted.types()).toEqual(['alarm.over']);
  });

  test('the end of an alarm is posted also if the ledger could not record its beginning, and not again if it could not record the end', async () => {
    const ledger = await ledgers.new();
    const rename = (from: string, to: string) =>
      ledger.engine.write((tx) => tx.unsafe(`ALTER TABLE ${from} RENAME TO ${to}`));
    const alarm = { name: 'disk.full', event: { type: 'disk.full' } };
    const options = { dir: newFolder(), send: () => rename('meta', 'hidden').then(() => {}) };
    await processOn(ledger, options).has([alarm], 3); // recorded only as about to be posted
    await rename('hidden', 'meta');
    const restarted = processOn(ledger, options);
    await restarted.has([], 63);
    expect(restarted.types()).toEqual(['alarm.over']);
    await rename('hidden', 'meta');
    const again = processOn(ledger, options);
    await again.has([], 200);
    expect(again.posts).toEqual([]);
  });

  test('a process that could not record that it posted an alarm posts its end', async () => {
    const ledger = await ledgers.new();
    const rename = (from: string, to: string) =>
      ledger.engine.write((tx) => tx.unsafe(`ALTER TABLE ${from} RENAME TO ${to}`));
    const process = processOn(ledger, {
      send: async (_, { type }) => {
        if (type === 'disk.full') await rename('meta', 'hidden');
      },
    });
    await process.has([{ name: 'disk.full', event: { type: 'disk.full' } }], 3);
    await rename('hidden', 'meta');
    await process.has([], 9);
    expect(process.types()).toEqual(['disk.full', 'alarm.over']);
  });

  test('a replica that returns after another one has ended the alarm does not end it again', async () => {
    const ledger = await ledgers.new();
    const alarm = (version: string) => [{ name: 'disk.full', version, event: { type: 'disk.full' } }];
    const dir = newFolder();
    await processOn(ledger, { dir, isStoreReachable: () => false }).has(alarm('1'), 3);
    const other = processOn(ledger);
    await other.has(alarm('2'), 3);
    await other.has([], 9);
    expect(other.types()).toEqual(['disk.full', 'alarm.over']);
    const returned = processOn(ledger, { dir });
    await returned.has([], 200);
    expect(returned.posts).toEqual([]);
  });

  test('a post of which the ledger learns later counts if no end was posted since', async () => {
    const { alarms } = await ledgers.shared();
    const alarm = { name: unique('alarm') };
    const isUnfinished = async () =>
      (await alarms.unfinished()).alarms.some(({ name }) => name === alarm.name);
    const first = await alarms.begin(alarm, '', 60_000);
    await alarms.markDelivered(alarm, first.occurrence);
    await alarms.end(alarm, 60_000);
    await alarms.markDelivered(alarm, first.occurrence);
    const { now } = await alarms.unfinished();
    const post = (occurrence: string, postedAt: number, isOver = false) =>
      alarms.recordPost({ alarm, occurrence, version: '', isOver, postedAt });
    await post('earlier', now - 60_000);
    await post(first.occurrence, now + 60_000);
    expect(await isUnfinished()).toBe(false);
    await post('later', now + 60_000);
    expect(await isUnfinished()).toBe(true);
    await post('another', now + 60_000, true);
    expect(await isUnfinished()).toBe(true);
    await post('later', now + 60_000, true);
    expect(await isUnfinished()).toBe(false);
  });

  test('alarms that have been over for a month are forgotten', async () => {
    const ledger = await ledgers.new();
    const alarm = { name: 'feeds.failing', subject: { process: 'a/1' }, event: { type: 'feeds.failing' } };
    const process = processOn(ledger);
    await process.has([alarm], 3);
    await process.has([], 9);
    const rows = async () =>
      (await ledger.engine.read`SELECT name FROM meta WHERE name LIKE 'alarm %'`).length;
    expect(await rows()).toBe(1);
    await ledger.engine.write(
      (tx) =>
        tx`UPDATE meta SET value = replace(value, '"until":', '"until":0,"was":') WHERE name LIKE 'alarm %'`,
    );
    await ledger.alarms.forget();
    expect(await rows()).toBe(0);
  });

  test('the outages that replicas record are counted once each', async () => {
    const [a, b] = await ledgers.pair();
    expect(await a.alarms.outages()).toBe(0);
    await Promise.all([a.alarms.recordOutage(1), b.alarms.recordOutage(1)]);
    expect(await b.alarms.outages()).toBe(1);
    await a.alarms.recordOutage(12);
    await b.alarms.recordOutage(2); // a replica that was cut off for longer
    expect(await a.alarms.outages()).toBe(12);
  });
});

interface WebhookPost {
  id: string;
  event: Readonly<Record<string, unknown>>;
}

interface ProcessOptions extends Partial<Pick<AlarmPosterOptions, 'isStoreReachable' | 'signal'>> {
  posts?: WebhookPost[];
  /** Where it keeps what it posts without the ledger. */
  dir?: string;
  send?: (...args: Parameters<Webhook['send']>) => Promise<void> | undefined;
}

/** A process that reports its alarms twice a second. */
function processOn(ledger: Ledger, { posts = [], dir = newFolder(), send, ...options }: ProcessOptions = {}) {
  let current: readonly ActiveAlarm[] = [];
  let time = 1_000_000;
  const clock = { now: () => time };
  const lines: { event: string; name: string }[] = [];
  const log = createLog('info', fixedClock, (line) => lines.push(JSON.parse(line)));
  const webhook = {
    async send(...args: Parameters<Webhook['send']>) {
      await send?.(...args);
      posts.push({ id: args[0], event: args[1] });
    },
  } as Webhook;
  const poster = new AlarmPoster({
    store: ledger.alarms,
    replicas: ledger.replicas,
    unstored: new UnstoredPosts(dir),
    isStoreReachable: () => true,
    signal: new AbortController().signal,
    webhook,
    clock,
    log,
    ...options,
  });
  const reporter = new AlarmReporter({ current: () => current, clock, log, poster });
  const run = (alarms: readonly ActiveAlarm[]) => {
    current = alarms;
    reporter.run();
  };
  return {
    posts,
    lines,
    types: () => posts.map(({ event }) => String(event.type)),
    run,
    settled: () => poster.settled(),
    /** Has these alarms for some seconds. */
    async has(alarms: readonly ActiveAlarm[], seconds: number) {
      for (let i = 0; i < seconds; i++, time += 1_000) {
        run(alarms);
        await poster.settled();
      }
    },
  };
}
