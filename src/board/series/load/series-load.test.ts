import { expect, test } from 'bun:test';
import { LoadQueue, SeriesLoad } from './series-load.ts';

/** A load of some pages that records when each of them is read. */
function load(queue: LoadQueue, name: string, pages: number, read: string[]): SeriesLoad {
  return new SeriesLoad(queue, async (onNextPage) => {
    read.push(`${name}1`);
    for (let page = 2; page <= pages; page++) {
      await onNextPage();
      read.push(`${name}${page}`);
    }
  });
}

test('a background load reads its next page after the load that a request waits for', async () => {
  const [queue, read, request] = [new LoadQueue(), [] as string[], Promise.withResolvers<void>()];
  const urgent = queue.urgently(() => request.promise);
  const background = load(queue, 'b', 2, read);
  background.release();
  read.push('request');
  request.resolve();
  await Promise.all([urgent, background.done]);
  expect(read).toEqual(['b1', 'request', 'b2']);
});

test('a background load finishes although requests keep waiting for others', async () => {
  const [queue, read] = [new LoadQueue(), [] as string[]];
  const forever = Promise.withResolvers<void>();
  const urgent = queue.urgently(() => forever.promise);
  const background = load(queue, 'b', 3, read);
  background.release();
  await background.done;
  expect(read).toEqual(['b1', 'b2', 'b3']);
  forever.resolve();
  await urgent;
});

test('background loads run one at a time, in the order of their release', async () => {
  const [queue, read] = [new LoadQueue(), [] as string[]];
  const [first, second] = [load(queue, 'a', 3, read), load(queue, 'b', 3, read)];
  second.release();
  first.release();
  await Promise.all([first.done, second.done]);
  expect(read).toEqual(['a1', 'b1', 'b2', 'b3', 'a2', 'a3']);
});

test('a load that a request requires waits for no other', async () => {
  const [queue, read] = [new LoadQueue(), [] as string[]];
  const stuck = new SeriesLoad(queue, async (onNextPage) => {
    await onNextPage();
    await new Promise(() => {});
  });
  stuck.release();
  const required = load(queue, 'r', 3, read);
  await required.pausedOrDone();
  await queue.urgently(() => required.finish());
  expect(read).toEqual(['r1', 'r2', 'r3']);
});
