import { describe, expect, test } from 'bun:test';
import { shouldYield, yieldToRequests } from './yield.ts';

/** Runs tasks, each of which calls `step` for every step it does. Returns the number of steps in each turn of the event loop. */
async function run(tasks: readonly ((step: () => void) => Promise<void>)[]): Promise<number[]> {
  await Bun.sleep(10); // lets the slice of an earlier test end
  const steps: number[] = [0];
  let isRunning = true;
  const nextTurn = () => {
    steps.push(0);
    if (isRunning) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  await Promise.all(tasks.map((task) => task(() => steps[steps.length - 1]!++)));
  isRunning = false;
  return steps;
}

describe('background work', () => {
  test('shares one slice per turn of the event loop, and all of it completes', async () => {
    const long = async (step: () => void) => {
      for (let i = 0; i < 20; i++) {
        if (shouldYield()) await yieldToRequests();
        step();
        Bun.sleepSync(1);
      }
    };
    const steps = await run([long, long, long]);
    expect(steps.reduce((sum, count) => sum + count)).toBe(60);
    for (const count of steps) expect(count).toBeLessThanOrEqual(4);
  });

  test('in many short tasks needs few turns', async () => {
    const short = async (step: () => void) => {
      if (shouldYield()) await yieldToRequests();
      step();
    };
    const steps = await run(Array.from({ length: 100 }, () => short));
    expect(steps.reduce((sum, count) => sum + count)).toBe(100);
    expect(steps.length).toBeLessThan(10);
  });

  test('alternates: the task that came first does not run to its end before the others', async () => {
    const order: string[] = [];
    const long = (name: string) => async (step: () => void) => {
      for (let i = 0; i < 10; i++) {
        if (shouldYield()) await yieldToRequests();
        step();
        order.push(name);
        Bun.sleepSync(2);
      }
    };
    await run([long('a'), long('b'), long('c')]);
    expect(order.lastIndexOf('a')).toBeGreaterThan(order.indexOf('c'));
    expect(order.indexOf('c')).toBeLessThan(8);
  });
});
