import type { Program } from '../../../support/program.ts';
import { WallClock } from '../../../support/wall-clock.ts';
import type { Environment } from '../environment.ts';
import { PricePusher, TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

const HOUR = 3_600_000;

/** By how much the clock is set before the price arrives, and after it. */
const STEPS = [
  { symbol: 'XAU', before: 0, behind: HOUR, how: 'an hour forward' },
  { symbol: 'XAG', before: 0, behind: 24 * HOUR, how: 'a day forward' },
  { symbol: 'PL', before: -HOUR, behind: HOUR, how: 'an hour back and forward' },
  { symbol: 'PA', before: -24 * HOUR, behind: 24 * HOUR, how: 'a day back and forward' },
  { symbol: 'HG-SPOT', before: -24 * HOUR, behind: 0, how: 'a day back' },
];

export const clockSet = row('clock-set', {
  fault: 'the wall clock is set forward, back, and back and forward again, by an hour and by a day',
  mustHold: "a plan's delay never becomes shorter; a plan without delay sees every price immediately",
  lacks: WallClock.lacks,
  async run(environment, { delaySeconds }) {
    const clock = new WallClock();
    clock.setByMs = nextTuesdayNoon() - Date.now();
    const settings = { ...(await environment.settings()), OPENPIT_ADMIN_TOKEN: TOKEN, ...clock.settings };
    const live = await environment.account(settings, 1_000_000);
    const delayed = await environment.account(settings, 1_000_000, delaySeconds);
    const program = await environment.program(settings);
    const seen: string[] = [];
    for (const step of STEPS) {
      const longest = 2 * delaySeconds + 20; // allows for one more delay and a busy machine
      const seconds = await seenAfter(environment, longest, program, clock, step, {
        live: live.key,
        delayed: delayed.key,
      });
      environment.holds(
        seconds >= delaySeconds,
        `${step.how}: seen after ${seconds} s instead of ${delaySeconds} s`,
      );
      environment.holds(seconds <= longest, `${step.how}: not seen within ${longest} s`);
      seen.push(`${step.how}: ${seconds.toFixed(1)} s`);
    }
    return {
      tried: `${STEPS.length} steps of the program's real clock, a delay of ${delaySeconds} s`,
      figures: `the delayed plan saw a price after: ${seen.join('; ')}`,
    };
  },
});

/**
 * Every step begins and ends while markets are open. A price that arrives after its session has ended is part of the bar of
 * that session, which delayed plans see already.
 */
function nextTuesdayNoon(): number {
  const noon = new Date();
  noon.setUTCDate(noon.getUTCDate() + ((9 - noon.getUTCDay()) % 7));
  return noon.setUTCHours(12, 0, 0, 0);
}

/** How long after its arrival the delayed plan sees a price, in seconds of an unaltered clock. */
async function seenAfter(
  environment: Environment,
  longest: number,
  program: Program,
  clock: WallClock,
  { symbol, before, behind, how }: (typeof STEPS)[number],
  keys: { live: string; delayed: string },
): Promise<number> {
  const sees = async (key: string) => {
    const answer = await program.get(`/rates/latest?symbols=${symbol}`, key);
    await answer.text();
    return answer.status === 200;
  };
  clock.setByMs += before;
  await Bun.sleep(300);
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  const status = await new PricePusher().post(program.url, 'ticks', [
    { symbol, price: 100, at: clock.now() },
  ]);
  environment.holds(status === 200, `${how}: the price was answered with ${status}`);
  while (!(await sees(keys.live)) && elapsed() < 20) await Bun.sleep(10);
  environment.holdsWithin(1_000, elapsed() * 1000, `${how}: the price to show without delay`);
  clock.setByMs += behind;
  while (!(await sees(keys.delayed)) && elapsed() < longest) await Bun.sleep(25);
  return elapsed();
}
