import { expect, test } from 'bun:test';
import { printDay } from '../../../market/day.ts';
import { printNumber } from '../../../market/decimal.ts';
import { BARS_PER_PAGE, Columns } from './columns.ts';

const write = (code: string, { open, close }: { open: number; close: number }) =>
  `"${code}":[${printNumber(open)},${printNumber(close)}]`;

function textsOf(columns: Columns, code: string, from: number, to: number, skip = 0): string {
  let text = '';
  const target = {
    copy(bytes: Uint8Array, start: number, end: number) {
      text += Buffer.from(bytes.subarray(start, end)).toString('latin1');
    },
  };
  const texts = columns.texts(code);
  for (let i = from; i < to; i++) texts.copyRow(i, skip, target, (page) => render(columns, code, page));
  return text;
}

function render(columns: Columns, code: string, page: number) {
  const first = page * BARS_PER_PAGE;
  const count = Math.min(BARS_PER_PAGE, columns.length - first);
  const texts = Array.from({ length: count }, (_, i) => write(code, columns.bar(first + i)));
  const starts = new Uint32Array(count + 1);
  texts.forEach((text, i) => {
    starts[i + 1] = starts[i]! + text.length;
  });
  return { bytes: Buffer.from(texts.join(''), 'latin1'), starts };
}

function expected(columns: Columns, code: string, from: number, to: number): string {
  return Array.from({ length: to - from }, (_, i) => write(code, columns.bar(from + i))).join('');
}

function set(columns: Columns, day: number, price: number): void {
  columns.set(day, { open: price, high: price, low: price, close: price / 2 }, 1);
}

test('texts are those of the bars, over the ends of pages, however long they are', () => {
  const columns = new Columns();
  for (let day = 0; day < 700; day++) set(columns, day, day % 90 === 0 ? 1e300 / (day + 1) : day / 4);
  for (const [from, to] of [
    [0, 700],
    [120, 140],
    [255, 257],
    [699, 700],
  ] as const) {
    expect(textsOf(columns, 'XAU', from, to), printDay(from)).toBe(expected(columns, 'XAU', from, to));
  }
  expect(textsOf(columns, 'GOLD', 3, 9)).toBe(expected(columns, 'GOLD', 3, 9));
  expect(textsOf(columns, 'GOLD', 3, 4, 2)).toBe(expected(columns, 'GOLD', 3, 4).slice(2));
});

test('the sources of bars are listed, each once, also when a bar of another source replaces one', () => {
  const columns = new Columns();
  const bar = { open: 1, high: 1, low: 1, close: 1 };
  expect(columns.sources(0, 0)).toEqual([]);
  for (let day = 0; day < 9; day++) columns.set(day, bar, 3);
  expect(columns.sources(2, 5)).toEqual([3]);
  expect(columns.sources(2, 2)).toEqual([]);
  columns.set(4, bar, 7);
  expect(columns.sources(2, 6)).toEqual([3, 7]);
  expect(columns.sources(5, 9)).toEqual([3]);
  columns.set(4, bar, 3);
  expect(columns.sources(0, 9)).toEqual([3]);
});

test('a new day, a day in between and a correction are seen at once', () => {
  const columns = new Columns();
  const all = () =>
    expect(textsOf(columns, 'XAU', 0, columns.length)).toBe(expected(columns, 'XAU', 0, columns.length));
  for (let day = 0; day < 300; day += 2) {
    set(columns, day, day);
    if (day % 60 === 0) all();
  }
  all();
  set(columns, 101, 5);
  all();
  set(columns, 100, 6);
  all();
});
