import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { COLOUR_CODES, colourFor } from './colour.ts';
import { terminalText } from './print-line.ts';

const colour = colourFor({ isTTY: true }, () => undefined);

test('only line feeds, tabs and the colours of the program reach the terminal', () => {
  const commands = fc.constantFrom(
    '\x1b[2J',
    '\x1b]52;c;YQ==\x07',
    '\x9b2J',
    '\r',
    '\b',
    '\x7f',
    '\u202e',
    '\u2066',
  );
  const parts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), commands, fc.constant(colour('a', 'red'))));
  fc.assert(
    fc.property(parts, (all) => {
      const shown = terminalText(all.join(''));
      const colourless = COLOUR_CODES.reduce((rest, code) => rest.replaceAll(code, ''), shown);
      expect(colourless).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});

test('a JSON text keeps its meaning', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(terminalText(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('other texts stay as they are', () => {
  const text = `Crudo «Maya»\t原油 ‏נפט‎ 🛢️\n${colour('XAU', 'bold')}`;
  expect(terminalText(text)).toBe(text);
});
