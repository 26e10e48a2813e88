import { expect, test } from 'bun:test';
import { boundedOutput } from './bounded-output.ts';

/** An output whose reader takes nothing until `read`. */
function stalled(charsMax: number) {
  const waiting: { text: string; onTaken: () => void }[] = [];
  const stream = { write: (text: string, onTaken: () => void) => waiting.push({ text, onTaken }) };
  const read = (lines: number) =>
    waiting.splice(0, lines).map(({ text, onTaken }) => {
      onTaken();
      return text;
    });
  const write = boundedOutput(stream, { charsMax, describeDropped: (count) => `${count} dropped\n` });
  return { write, read };
}

test('lines beyond the limit are dropped while nobody reads, and then counted', () => {
  const { write, read } = stalled(20);
  for (let i = 0; i < 100; i++) write(`line ${i}\n`);
  expect(read(100)).toEqual(['line 0\n', 'line 1\n', 'line 2\n']);
  write('again\n');
  write('and again\n');
  expect(read(100)).toEqual(['97 dropped\nagain\n', 'and again\n']);
});

test('a slow reader gets one count for many lines: they are dropped until it has read everything', () => {
  const { write, read } = stalled(20);
  for (let i = 0; i < 4; i++) write(`line ${i}\n`);
  for (let i = 4; i < 7; i++) {
    write(`line ${i}\n`);
    read(1);
  }
  write('line 7\n');
  expect(read(100)).toEqual(['4 dropped\nline 7\n']);
});

test('a reader that keeps up gets every line', () => {
  const { write, read } = stalled(20);
  for (let i = 0; i < 100; i++) {
    write(`line ${i}\n`);
    expect(read(100)).toEqual([`line ${i}\n`]);
  }
});
