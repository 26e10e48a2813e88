import { readdirSync } from 'node:fs';
import { printDay, utcDay } from '../../../../src/market/day.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { rawRequest } from '../../../support/http/raw-download.ts';
import { lacksProc, residentMb } from '../../../support/monitoring/memory.ts';
import { count, usedOf } from '../environment.ts';
import { publishDays } from '../published-days.ts';
import { row } from '../row.ts';

const ROWS_PER_UNIT = 2_000;
/** How long the program may take to notice that clients have disconnected. */
const NOTICE_MS = 5_000;

export const brokenDownloads = row('broken-downloads', {
  fault: 'clients repeatedly abort a CSV download of forty years',
  mustHold:
    'memory and file descriptors stay flat; each download costs its units, as documented; the next download is complete',
  lacks: lacksProc,
  async run(environment, { symbols, days, rounds, atOnce, growthMbMax }) {
    const settings = await environment.settings();
    const codes = await publishDays(settings, symbols, days);
    const { key } = await environment.account(settings, 1_000_000_000);
    const program = await environment.program(settings);
    const { url, pid } = program;
    const today = utcDay(systemClock.now());
    const range = `startDate=${printDay(today - days - 1)}&endDate=${printDay(today - 1)}`;
    const path = `/rates/history?symbols=${codes}&${range}&format=csv&apiKey=${key}`;
    const paths = [path, `${path}&asOf=${printDay(today)}`];

    const whole = await rawRequest(url, path);
    const rows = whole.body.toString().trimEnd().split('\r\n').length - 1;
    environment.holds(
      whole.isComplete && rows === symbols * (days + 1),
      `the first download has ${rows} rows`,
    );
    const units = Math.ceil(rows / ROWS_PER_UNIT);

    /** Disconnects after the first bytes. */
    const leave = async (i: number) => {
      const headers = i % 3 === 0 ? 'Accept-Encoding: gzip\r\n' : '';
      const onData = (socket: { destroy(): void }) => void socket.destroy();
      const { head, isComplete } = await rawRequest(url, paths[i % 2]!, { headers, onData });
      environment.holds(head.includes(' 200 '), `a download began with ${head.slice(0, 60)}`);
      return !isComplete;
    };
    let left = 0;
    const run = async (times: number) => {
      for (let done = 0; done < times; done += atOnce) {
        const broken = await Promise.all(Array.from({ length: atOnce }, (_, i) => leave(done + i)));
        left += broken.filter((isBroken) => isBroken).length;
      }
    };
    const warm = Math.ceil(rounds / 4 / atOnce) * atOnce;
    await run(warm); // until the heap has its usual size
    const before = { mb: residentMb(pid), descriptors: descriptorsOf(pid) };
    const measured = Math.ceil(rounds / atOnce) * atOnce;
    await run(measured);
    const start = performance.now();
    while (descriptorsOf(pid) > before.descriptors && performance.now() - start < NOTICE_MS)
      await Bun.sleep(50);
    const after = { mb: residentMb(pid), descriptors: descriptorsOf(pid) };

    environment.holds(left > 0, 'every client was faster than its hang-up');
    environment.holds(after.mb - before.mb < growthMbMax, `memory grew from ${before.mb} to ${after.mb} MB`);
    environment.holds(
      after.descriptors <= before.descriptors,
      `descriptors went from ${before.descriptors} to ${after.descriptors}`,
    );
    const used = await usedOf(program, key);
    const expected = units * (1 + warm + measured);
    environment.holds(used === expected, `${used} units were charged, not ${expected}`);
    const last = await rawRequest(url, path);
    environment.holds(last.isComplete && last.body.equals(whole.body), 'the last download is not the first');
    await environment.holdsInvariant(settings);
    return {
      tried: `${count(warm + measured)} downloads of ${count(rows)} rows, ${atOnce} at once, ${count(left)} of them aborted; every other one with \`asOf\``,
      figures: `memory ${before.mb} MB before, ${after.mb} MB after; ${after.descriptors} file descriptors as before; ${units} units for each`,
    };
  },
});

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
