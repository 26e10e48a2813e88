import { join } from 'node:path';
import { Crowd } from '../../../support/http/crowd.ts';
import { getRaw } from '../../../support/http/raw.ts';
import { eventually, Program } from '../../../support/program.ts';
import { count, usedOf } from '../environment.ts';
import { row } from '../row.ts';

/** Below the system's limit of file descriptors per process. */
const PER_CROWD = 8_000;

/** The program with a limit of file descriptors. */
function limitedTo(descriptors: number) {
  const command = ['bash', '-c', 'ulimit -n "$0" && exec bun src/main.ts "$@"', `${descriptors}`];
  return { command, cwd: join(import.meta.dir, '..', '..', '..', '..') };
}

export const idleConnections = row('idle-connections', {
  fault:
    'more idle connections than the program has file descriptors; in every other batch they have sent half a request head',
  mustHold: 'no crash; existing and new clients are served; recovery within 5 s',
  async run(environment, { connections, descriptors }) {
    const settings = await environment.settings();
    const { key } = await environment.account(settings, 1_000_000_000);
    const program = await Program.start(settings, limitedTo(descriptors));
    environment.atEnd(() => program.end('SIGKILL'));
    const port = Number(new URL(program.url).port);
    const ask = async () => {
      const answer = getRaw(program.url, '/symbols', `x-api-key: ${key}\r\n`).catch(() => '');
      const late = Bun.sleep(1_000).then(() => '');
      return (await Promise.race([answer, late])).startsWith('HTTP/1.1 200 ');
    };
    environment.holds(await ask(), 'it does not answer at all');
    const regular = keepAsking(program, key);

    const perCrowd = Math.min(PER_CROWD, Math.ceil(connections / 2));
    const crowds: Crowd[] = [];
    let opened = 0;
    for (let left = connections; left > 0; left -= perCrowd) {
      const first = crowds.length % 2 === 0 ? '' : 'GET /half HTTP/1.1\r\n';
      const quiet = { first, piece: '', everyMs: 1_000, untilMs: 60_000 };
      const crowd = new Crowd({ port, connections: Math.min(left, perCrowd), ...quiet });
      environment.atEnd(() => crowd.leave());
      crowds.push(crowd);
      opened += await crowd.opened();
    }
    environment.holds(await ask(), 'a new client was not answered while they were there');
    const { answers, failed, slowestMs } = await regular.stop();
    environment.holds(failed === 0, `a client that was there before them got ${failed} failures`);
    await Promise.all(crowds.map((crowd) => crowd.leave()));
    const recoveredMs = await eventually(ask).catch(() => Number.POSITIVE_INFINITY);
    environment.holds(recoveredMs < 5_000, 'it did not answer within 5 s after they had gone');
    environment.holds(!(await Promise.race([program.exited, Bun.sleep(0)])), 'the program ended');
    const used = await usedOf(program, key);
    environment.holds(used >= 2, `used is ${used}`);
    await environment.holdsInvariant(settings);
    return {
      tried: `${count(opened)} idle connections to a program with ${count(descriptors)} file descriptors`,
      figures: `an existing client got ${answers} responses, the slowest after ${Math.round(slowestMs)} ms; a new client was served; full recovery ${Math.round(recoveredMs)} ms after the connections were closed`,
    };
  },
});

/** A client with its own connection that sends a request from time to time. */
function keepAsking(program: Program, key: string) {
  const seen = { answers: 0, failed: 0, slowestMs: 0 };
  let isAsking = true;
  const done = (async () => {
    while (isAsking) {
      const start = performance.now();
      const response = await program.get('/symbols', key).catch(() => undefined);
      await response?.text();
      if (response?.status === 200) seen.answers++;
      else seen.failed++;
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - start);
      await Bun.sleep(50);
    }
  })();
  return {
    async stop() {
      isAsking = false;
      await done;
      return seen;
    },
  };
}
