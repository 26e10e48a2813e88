import { describe, test } from 'bun:test';
import fc from 'fast-check';
import { Seeded } from '../support/seeded.ts';
import { mutate } from './mutate.ts';
import { TARGETS } from './targets.ts';

/** A few hundred of each kind in a usual run; OPENPIT_FUZZ_RUNS for more. */
const RUNS = Number(process.env.OPENPIT_FUZZ_RUNS ?? 200);

describe.each(TARGETS.map((target) => [target.name, target] as const))('the parser of %s', (_, target) => {
  const encoder = new TextEncoder();
  const words = target.words.map((word) => encoder.encode(word));
  const piece = fc.oneof(
    fc.constantFrom(...target.words, ...target.seeds.map((seed) => new TextDecoder().decode(seed))),
    fc.string({ unit: 'binary', maxLength: 10 }),
  );

  test('keeps its law for any text, put together from its own words', () => {
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => encoder.encode(pieces.join('')));
    fc.assert(
      fc.property(text, (input) => target.run(input)),
      { numRuns: RUNS },
    );
  });

  test('keeps its law for any bytes, and for good inputs with some changes', () => {
    const changed = fc
      .integer()
      .map((seed) => new Seeded(seed))
      .map((chance) => mutate(chance.pick(target.seeds), target.seeds, words, chance));
    const input = fc.oneof({ weight: 4, arbitrary: changed }, { weight: 1, arbitrary: fc.uint8Array() });
    fc.assert(
      fc.property(input, (bytes) => target.run(bytes)),
      { numRuns: RUNS },
    );
  });
});
