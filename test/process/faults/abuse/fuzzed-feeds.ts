import { join } from 'node:path';
import { FUZZED } from '../../../support/feeds/fuzzed-feeds.ts';
import { lacksProc } from '../../../support/monitoring/memory.ts';
import { count } from '../environment.ts';
import { row } from '../row.ts';

const SCRIPT = join(import.meta.dir, '..', '..', '..', 'support', 'feeds', 'fuzz-program.ts');

export const fuzzedFeeds = row('fuzzed-feeds', {
  fault: 'fuzzed bodies for each adapter: edited, truncated, in the wrong format, random bytes',
  mustHold: 'no crash, no invalid row; memory stays flat',
  lacks: lacksProc,
  async run(environment, { bodies, growthMbMax }) {
    const grew: number[] = [];
    let taken = 0;
    for (const name of FUZZED) {
      const child = Bun.spawn([process.execPath, SCRIPT, name, String(bodies)], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      environment.atEnd(() => child.kill());
      const [said, complaint] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      const ended = await child.exited;
      environment.holds(ended === 0, `${name} broke: ${complaint.slice(0, 2_000)}`);
      if (ended !== 0) continue;
      const seen = JSON.parse(said) as { taken: number; beforeMb: number; afterMb: number };
      taken += seen.taken;
      grew.push(seen.afterMb - seen.beforeMb);
      environment.holds(
        grew.at(-1)! < growthMbMax,
        `${name}: memory grew from ${seen.beforeMb} to ${seen.afterMb} MB`,
      );
    }
    return {
      tried: `${count(bodies)} bodies for each of ${FUZZED.length} adapters (${FUZZED.join(', ')})`,
      figures: `${count(taken)} were read, the others refused with a reason; memory grew by ${Math.max(...grew)} MB at most`,
    };
  },
});
