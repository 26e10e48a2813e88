import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Seeded } from '../support/seeded.ts';
import type { Coverage } from './coverage.ts';
import { mutate } from './mutate.ts';
import type { Target } from './target.ts';

export interface Fuzzed {
  runs: number;
  /** Branches that the seeds reach, and that all inputs have reached. */
  branchesAtStart: number;
  branches: number;
  /** Inputs in the corpus: each reached a branch that no earlier one did. */
  corpus: number;
  /** The input that broke the parser, and its error. */
  broke?: { input: Uint8Array; error: unknown };
}

/** No input may take longer. */
const MS_MAX = 2_000;

/** Mutates inputs for `seconds`. An input that reaches a new branch joins the corpus, which is kept in `folder`. */
export function fuzz(
  target: Target,
  coverage: Coverage,
  seconds: number,
  seed: number,
  folder: string,
): Fuzzed {
  const chance = new Seeded(seed);
  const words = target.words.map((word) => new TextEncoder().encode(word));
  mkdirSync(folder, { recursive: true });
  const kept = readdirSync(folder).map((file) => new Uint8Array(readFileSync(join(folder, file))));
  const corpus = [...target.seeds, new Uint8Array(), ...kept];
  const done: Fuzzed = { runs: 0, branchesAtStart: 0, branches: 0, corpus: 0 };
  coverage.take();
  const base = coverage.size;
  const start = performance.now();
  let next = 0;
  while (!done.broke && (next < corpus.length || performance.now() - start < seconds * 1000)) {
    const isGiven = next < corpus.length && done.branchesAtStart === 0;
    const input = isGiven ? corpus[next]! : mutate(chance.pick(corpus), corpus, words, chance);
    next++;
    const error = errorOf(target, input);
    if (error) done.broke = { input, error };
    const isNew = coverage.take();
    if (!isGiven) done.runs++;
    if (isNew && !isGiven) {
      corpus.push(input);
      writeFileSync(join(folder, `${Bun.hash(input).toString(36)}.bin`), input);
    }
    if (isGiven && next === corpus.length) done.branchesAtStart = coverage.size - base;
  }
  return { ...done, branches: coverage.size - base, corpus: corpus.length };
}

function errorOf({ run }: Target, input: Uint8Array): unknown {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > MS_MAX; tries++) {
    const begin = performance.now();
    try {
      run(input);
    } catch (error) {
      return error ?? new TypeError('it threw undefined');
    }
    least = Math.min(least, performance.now() - begin); // a busy machine may be slow once, but not three times
  }
  return least > MS_MAX ? new TypeError(`it took ${Math.round(least)} ms`) : undefined;
}
