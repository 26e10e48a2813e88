/** `npm run soak -- --minutes N [--out FILE.svg]`: steady load on the real program, and a check that its memory stays flat. */

import { Environment } from '../test/process/faults/environment.ts';
import { chart, sparklines } from '../test/soak/chart.ts';
import { notFlat, soak } from '../test/soak/soak.ts';
import { removeFolders } from '../test/support/ledger.ts';
import { readFlags } from './flags.ts';

const { values } = readFlags({
  options: { minutes: { type: 'string', default: '10' }, out: { type: 'string', default: 'soak.svg' } },
});
const token = 'a-token-for-the-soak';
const environment = new Environment();
const settings = { ...(await environment.settings()), OPENPIT_DEMO: 'true', OPENPIT_ADMIN_TOKEN: token };
const program = await environment.program(settings);
const { key } = await environment.account(settings, 1_000_000_000);
process.on('SIGINT', () => void environment.end().then(() => process.exit(130)));
const target = { program, key, token };
const { samples, answered, errors } = await soak(target, Number(values.minutes) * 60, (sample) => {
  const { at, heapMb, rssMb, fds, lagMs, perSecond } = sample;
  const line = `${at.toFixed(0)} s: heap ${heapMb.toFixed(0)} MB, RSS ${rssMb.toFixed(0)} MB, ${fds} fds, lag ${lagMs.toFixed(0)} ms, ${perSecond.toFixed(0)}/s`;
  process.stderr.write(`\r${line}   `);
});
await environment.end();
await Bun.write(values.out, chart(samples));
console.log(`\n${sparklines(samples)}`);
console.log(
  `${answered} answers, errors: ${JSON.stringify(Object.fromEntries(errors))}; the chart is in ${values.out}`,
);
const rising = notFlat(samples);
console.log(rising.length === 0 ? 'Flat.' : `NOT FLAT: ${rising.join('; ')}`);
removeFolders();
process.exit(rising.length === 0 && errors.size === 0 ? 0 : 1);
