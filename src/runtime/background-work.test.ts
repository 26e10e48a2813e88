import { describe, expect, test } from 'bun:test';
import { turns } from './background-work.ts';

/** Runs works, each of which tells `part` of every part that it does. Gives the parts that were done in each turn of the event loop. */
async function run(works: readonly ((part: () => void) => Promise<void>)[]): Promise<number[]> {
  await Bun.sleep(10); // whatever turn others have is over
  const done: number[] = [0];
  let isOn = true;
  const count = () => {
    done.push(0);
    if (isOn) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(works.map((work) => work(() => done[done.length - 1]!++)));
  isOn = false;
  return done;
}

describe('long works', () => {
  test('share the time of a turn, and all come to their end', async () => {
    const long = async (part: () => void) => {
      for (let i = 0; i < 20; i++) {
        if (turns.isOver) await turns.next();
        part();
        Bun.sleepSync(1);
      }
    };
    const done = await run([long, long, long]);
    expect(done.reduce((sum, parts) => sum + parts)).toBe(60);
    for (const parts of done) expect(parts).toBeLessThanOrEqual(4);
  });

  test('that are short wait for one turn, however many they are', async () => {
    const short = async (part: () => void) => {
      if (turns.isOver) await turns.next();
      part();
    };
    const done = await run(Array.from({ length: 100 }, () => short));
    expect(done.reduce((sum, parts) => sum + parts)).toBe(100);
    expect(done.length).toBeLessThan(10);
  });

  test('are done in turn: one that came first does not keep the others waiting to its end', async () => {
    const order: string[] = [];
    const long = (name: string) => async (part: () => void) => {
      for (let i = 0; i < 10; i++) {
        if (turns.isOver) await turns.next();
        part();
        order.push(name);
        Bun.sleepSync(2);
      }
    };
    await run([long('a'), long('b'), long('c')]);
    expect(order.lastIndexOf('a')).toBeGreaterThan(order.indexOf('c'));
    expect(order.indexOf('c')).toBeLessThan(8);
  });
});
