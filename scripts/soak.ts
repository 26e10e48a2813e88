/** `npm run soak -- --minutes N [--out FILE.svg]`: steady load on the real program, and whether its memory stays flat. */
import { parseArgs } from 'node:util';
import { chart, sparklines } from '../test/soak/chart.ts';
import { notFlat, soak } from '../test/soak/soak.ts';
import { newFolder, removeFolders } from '../test/support/ledger.ts';
import { Program } from '../test/support/program.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, out: { type: 'string', default: 'soak.svg' } },
});
const token = 'a-token-for-the-soak';
const program = await Program.start({
  OPENPIT_DATA_DIR: newFolder(),
  OPENPIT_DEMO: 'true',
  OPENPIT_ADMIN_TOKEN: token,
});
process.on('SIGINT', () => void program.end('SIGKILL').then(() => process.exit(130)));
const { samples, answered, errors } = await soak(program, token, Number(values.minutes) * 60, (sample) => {
  const { at, heapMb, rssMb, fds, lagMs, perSecond } = sample;
  const line = `${at.toFixed(0)} s: heap ${heapMb.toFixed(0)} MB, RSS ${rssMb.toFixed(0)} MB, ${fds} fds, lag ${lagMs.toFixed(0)} ms, ${perSecond.toFixed(0)}/s`;
  process.stderr.write(`\r${line}   `);
});
await program.end('SIGTERM');
await Bun.write(values.out, chart(samples));
console.log(`\n${sparklines(samples)}`);
console.log(
  `${answered} answers, errors: ${JSON.stringify(Object.fromEntries(errors))}; the chart is in ${values.out}`,
);
const rising = notFlat(samples);
console.log(rising.length === 0 ? 'Flat.' : `NOT FLAT: ${rising.join('; ')}`);
removeFolders();
process.exit(rising.length === 0 && errors.size === 0 ? 0 : 1);
