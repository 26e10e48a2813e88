import { expect, test } from 'bun:test';
import { instrument } from './instrument.ts';

/** Runs a function of instrumented code. Returns its result and the points that were hit. */
function runInstrumented(code: string, ...args: unknown[]) {
  const hits: string[] = [];
  const hit = (point: number, value: unknown) => {
    hits.push(`${point}${value ? '+' : '-'}`);
    return value;
  };
  const run = new Function('__hit', `${instrument(code).code}; return run;`)(hit);
  return { answer: run(...args), hits };
}

test('code behaves as before, and reports the branches that it took', () => {
  const code = `function run(a) { if (a > 1 && (a < 9)) return "big"; else { return 'small'; } }`;
  expect(runInstrumented(code, 5)).toEqual({ answer: 'big', hits: ['0-', '1+'] });
  expect(runInstrumented(code, 0)).toEqual({ answer: 'small', hits: ['0-', '1-', '2-'] });
});

test('texts, templates, regular expressions, divisions, objects and switches are left alone', () => {
  const code = `function run(a) {
    const o = { if: 1, f(x) { return x / 2 / 1; } }; // if (no) {
    const t = \`if (\${[1].map((x) => { return \`{\${x}\`; })}) {\`; /* while (no) { */
    const r = /[/)]if \\( \\/ {/.test('if (');
    switch (a) { case 1: return o.f(8) + t + r; default: return "while (no) {".length; }
  }`;
  expect(runInstrumented(code, 1).answer).toBe('4if ({1) {false');
  expect(runInstrumented(code, 2).answer).toBe(12);
});
