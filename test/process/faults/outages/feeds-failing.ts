import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { WebhookReceiver } from '../../../support/http/webhook-receiver.ts';
import type { Settings } from '../environment.ts';
import { row } from '../row.ts';
import { alarmIsPosted, healthBecomes, holdsOneAlarm } from './alarmed.ts';

export const feedsFailing = row('feeds-failing', {
  fault: 'the feeds’ thread fails in every iteration, because a table is missing',
  mustHold: 'one alarm within 30 s, cleared on recovery; requests are answered; no log flood',
  async run(environment, { pauseMs }) {
    const receiver = new WebhookReceiver();
    environment.atEnd(() => receiver.stop());
    const settings: Settings = { ...(await environment.settings()), OPENPIT_WEBHOOK_URL: receiver.url };
    const { key } = await environment.account(settings, 100_000_000);
    const program = await environment.program(settings);
    const from = program.stderr.length;
    const rename = (before: string, after: string) => {
      const database = new Database(join(settings.OPENPIT_DATA_DIR!, 'openpit.db'));
      database.run('PRAGMA busy_timeout = 5000');
      database.run(`ALTER TABLE ${before} RENAME TO ${after}`);
      database.close();
    };
    const stop = new AbortController();
    const statuses = new Map<number, number>();
    const asking = (async () => {
      while (!stop.signal.aborted) {
        const { status } = await program.get('/symbols', key);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await Bun.sleep(pauseMs); // the thread has a low priority: a load on every core would starve it
      }
    })();
    rename('quarantine_tick', 'quarantine_hidden');
    const noticedMs = await healthBecomes(program, 200, ['feeds.failing']);
    await alarmIsPosted(receiver, 'feeds.failing');
    rename('quarantine_hidden', 'quarantine_tick');
    const clearedMs = await healthBecomes(program, 200, []);
    stop.abort();
    await asking;
    environment.holds([...statuses.keys()].join() === '200', `answers: ${JSON.stringify([...statuses])}`);
    const lines = await holdsOneAlarm(environment, { program, receiver, name: 'feeds.failing', from });
    environment.holdsWithin(30_000, noticedMs, 'to raise the alarm'); // the loop runs every second, closing every ten
    return {
      tried: `a table renamed while the program runs, a request every ${pauseMs} ms`,
      figures: `alarm after ${Math.round(noticedMs / 1000)} s, over ${Math.round(clearedMs / 1000)} s after the table was restored; ${statuses.get(200)} answers, all 200; ${lines} lines in the log`,
    };
  },
});
