import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { evaluate } from './evaluate.ts';
import { type Expression, type Formula, parseFormula } from './parse.ts';

const PRICES: Record<string, [text: string, numerator: bigint, denominator: bigint]> = {
  A: ['2.4531', 24_531n, 10_000n],
  B: ['-36.98', -3_698n, 100n],
  'WTIOIL-FUT': ['78.15', 7_815n, 100n],
  ZERO: ['0', 0n, 1n],
};

/** An expression as text with more parentheses than needed, and its exact value; undefined after a division by zero. */
interface Known {
  text: string;
  value: [bigint, bigint] | undefined;
}

const leaf: fc.Arbitrary<Known> = fc.oneof(
  fc
    .constantFrom(...Object.entries(PRICES))
    .map(([code, [, n, d]]): Known => ({ text: `{${code}}`, value: [n, d] })),
  fc
    .integer({ min: 0, max: 99_999 })
    .map((n): Known => ({ text: (n / 100).toFixed(2), value: [BigInt(n), 100n] })),
);

const { known } = fc.letrec<{ known: Known; binary: Known; negative: Known }>((tie) => ({
  known: fc.oneof({ maxDepth: 5, depthIdentifier: 'formula' }, leaf, tie('binary'), tie('negative')),
  negative: tie('known').map(({ text, value }) => ({
    text: `-(${text})`,
    value: value && [-value[0], value[1]],
  })),
  binary: fc
    .tuple(fc.constantFrom('+', '-', '*', '/'), tie('known'), tie('known'))
    .map(([operator, a, b]) => ({
      text: `(${a.text}) ${operator} (${b.text})`,
      value: apply(operator, a.value, b.value),
    })),
}));

function apply(operator: string, a: Known['value'], b: Known['value']): Known['value'] {
  if (!a || !b) return undefined;
  if (operator === '+') return [a[0] * b[1] + b[0] * a[1], a[1] * b[1]];
  if (operator === '-') return [a[0] * b[1] - b[0] * a[1], a[1] * b[1]];
  if (operator === '*') return [a[0] * b[0], a[1] * b[1]];
  if (b[0] === 0n) return undefined;
  return b[0] < 0n ? [-a[0] * b[1], -a[1] * b[0]] : [a[0] * b[1], a[1] * b[0]];
}

function parsed(text: string): Formula {
  const formula = parseFormula(text);
  if ('problem' in formula) throw new Error(`${text}: ${formula.problem}`);
  return formula;
}

const resultOf = ({ expression }: { expression: Expression }) =>
  evaluate(expression, (code) => Number(PRICES[code]![0]));

test('a formula has its exact value, rounded once to 15 digits, however it is written', () => {
  fc.assert(
    fc.property(known, ({ text, value }) => {
      fc.pre(text.includes('{') && text.length <= 500);
      const formula = parsed(text);
      const found = resultOf(formula);
      expect(resultOf(parsed(formula.text))).toBe(found);
      expect(parsed(formula.text).text).toBe(formula.text);
      if (!value) return expect(found).toBeUndefined();
      const [n, d] = value;
      // |found − n/d| ≤ half a unit of the fifteenth digit
      const [mantissa = '', exponent = '0'] = found!.toExponential(14).split('e');
      const power = Number(exponent) - 14;
      const [up, down] = [10n ** BigInt(Math.max(0, power)), 10n ** BigInt(Math.max(0, -power))];
      const error = BigInt(mantissa.replace('.', '')) * up * d - n * down;
      expect((error < 0n ? -error : error) * 2n <= up * d).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

describe('a formula', () => {
  test('has the usual precedence, and binds to the left', () => {
    expect(resultOf(parsed('{A}*42-{WTIOIL-FUT}'))).toBe(24.8802);
    expect(resultOf(parsed('(2*{A}*42+{A}*42-3*{WTIOIL-FUT})/3'))).toBe(24.8802);
    expect(resultOf(parsed('100-10-{A}'))).toBe(87.5469);
    expect(resultOf(parsed('8/4/2*{A}/{A}'))).toBe(1);
    expect(resultOf(parsed('-{B}'))).toBe(36.98);
    expect(resultOf(parsed('2*-{A}'))).toBe(-4.9062);
    expect(resultOf(parsed('.5*{A}'))).toBe(1.22655);
  });

  test('is spelled in one way: upper case, no blanks, and a blank between operands is a plus', () => {
    expect(parsed(' { a } * 42 - {wtioil-fut} ').text).toBe('{A}*42-{WTIOIL-FUT}');
    expect(parsed('{A} {B}').text).toBe('{A}+{B}'); // a plus in a URL
    expect(parsed('({A} 1)*2').text).toBe('({A}+1)*2');
    expect(parsed('{A}-({B}-1)').text).toBe('{A}-({B}-1)');
    expect(parsed('{A}-{A}+{B}').codes).toEqual(['A', 'B']);
  });

  test('division by zero has no value', () => {
    for (const text of ['{A}/0', '{A}/{ZERO}', '1/({A}-{A})', '{ZERO}/{ZERO}', '0*({A}/0)']) {
      expect(resultOf(parsed(text))).toBeUndefined();
    }
  });

  test('is refused with the reason when it is invalid, too long or nested too deeply', () => {
    const problem = (text: string) => (parseFormula(text) as { problem: string }).problem;
    expect(problem('{A')).toContain('closing brace');
    expect(problem('({A}')).toContain('closing parenthesis');
    expect(problem('{A}+')).toContain('expected');
    expect(problem('{A}{B}')).toContain('not expected');
    expect(problem('{A})')).toContain('")" is not expected');
    expect(problem('{A B}')).toContain('not a code');
    expect(problem('{}')).toContain('not a code');
    expect(problem('1+1')).toContain('names no symbol');
    expect(problem('{A}*1e9')).toContain('not expected');
    expect(problem('{A}*1234567890123456')).toContain('15 characters');
    expect(problem('{A};process.exit()')).toContain('";" is not expected');
    expect(problem(`${'('.repeat(40)}{A}${')'.repeat(40)}`)).toContain('nested more than 20 deep');
    expect(problem(`${'-'.repeat(40)}{A}`)).toContain('nested more than 20 deep');
    expect(problem(Array.from({ length: 60 }, (_, i) => `{S${i}}`).join('+'))).toContain('20 symbols');
    expect(problem('{A}+'.repeat(2_500))).toContain('10000 characters');
    expect(problem(`${'('.repeat(1_000)}{A}${')'.repeat(1_000)}`)).toContain('characters');
  });

  test('any text is a formula or has a reason why not', () => {
    const piece = fc.constantFrom(
      '{A}',
      '{B',
      '}',
      '(',
      ')',
      '+',
      '-',
      '*',
      '/',
      '1',
      '.5',
      ' ',
      '"',
      '\n',
      '=',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((all) => all.join('')),
        ),
        (text) => {
          const formula = parseFormula(text);
          if ('problem' in formula) expect(formula.problem.length).toBeGreaterThan(5);
          else expect(parsed(formula.text).text).toBe(formula.text);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
