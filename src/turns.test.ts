import { expect, test } from 'bun:test';
import { turns } from './turns.ts';

test('of several long works each has its turn, and never two in one turn of the event loop', async () => {
  await Bun.sleep(10); // whatever turn others have is over
  let loop = 0;
  const counting = { isOn: true };
  const count = () => {
    loop++;
    if (counting.isOn) setImmediate(count);
  };
  setImmediate(count);
  const at: Set<number>[] = [];
  const work = async (own: Set<number>) => {
    for (let part = 0; part < 20; part++) {
      if (turns.isOver) await turns.next();
      own.add(loop);
      Bun.sleepSync(1);
    }
  };
  const works = Array.from({ length: 3 }, () => {
    const own = new Set<number>();
    at.push(own);
    return work(own);
  });
  await Promise.all(works);
  counting.isOn = false;
  for (const own of at) expect(own.size).toBeGreaterThan(3);
  const all = at.flatMap((own) => [...own]);
  expect(new Set(all).size).toBe(all.length);
});
