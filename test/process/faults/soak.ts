import { join } from 'node:path';
import { chart } from '../../soak/chart.ts';
import { growth, notFlat, soak as runSoak } from '../../soak/soak.ts';
import { count } from './environment.ts';
import { TOKEN } from './price-pusher.ts';
import { row } from './row.ts';

const CHART = join(import.meta.dir, '../../../docs/images/soak.svg');

export const soak = row('soak', {
  fault: 'soak: steady mixed load, streams and pushes ([chart](images/soak.svg))',
  mustHold: 'no error; heap and file descriptors stay flat',
  async run(environment, { minutes, isJudged }) {
    const settings = { ...(await environment.demoSettings()), OPENPIT_ADMIN_TOKEN: TOKEN };
    const program = await environment.program(settings);
    const { key } = await environment.account(settings, 1_000_000_000);
    const { samples, answered, errors } = await runSoak({ program, key, token: TOKEN }, minutes * 60);
    environment.holds(errors.size === 0, `errors: ${JSON.stringify(Object.fromEntries(errors))}`);
    // A few seconds are too short to measure a slope.
    if (isJudged) {
      for (const rising of notFlat(samples)) environment.holds(false, rising);
      await Bun.write(CHART, chart(samples));
    }
    const line = (unit: string, { from, by }: { from: number; by: number }) =>
      `${from.toFixed(0)}${unit} ${by < 0 ? '−' : '+'} ${Math.abs(by).toFixed(1)}`;
    const most = Math.max(...samples.map(({ lagMs }) => lagMs));
    return {
      tried: `${minutes} minutes, ${count(answered)} answers`,
      figures: `after the first third, initial value and growth by linear regression: heap ${line(
        ' MB',
        growth(samples, (one) => one.heapMb),
      )}, RSS ${line(
        ' MB',
        growth(samples, (one) => one.rssMb),
      )}, file descriptors ${line(
        '',
        growth(samples, (one) => one.fds),
      )}; longest event-loop lag ${most.toFixed(0)} ms; ${errors.size} kinds of errors`,
    };
  },
});
