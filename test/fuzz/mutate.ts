import type { Seeded } from '../support/seeded.ts';

const LENGTH_MAX = 20_000;

/** An input that is one to eight changes away from another. */
export function mutate(
  input: Uint8Array,
  others: readonly Uint8Array[],
  words: readonly Uint8Array[],
  chance: Seeded,
): Uint8Array {
  let result = input;
  for (let left = 1 + chance.below(chance.isOneIn(3) ? 8 : 2); left > 0; left--) {
    result = change(result, others, words, chance).subarray(0, LENGTH_MAX);
  }
  return result;
}

const NOTABLE_BYTES = [0, 1, 9, 10, 13, 32, 34, 37, 44, 45, 46, 48, 57, 58, 60, 92, 127, 128, 255];

function change(
  input: Uint8Array,
  others: readonly Uint8Array[],
  words: readonly Uint8Array[],
  chance: Seeded,
): Uint8Array {
  const at = chance.below(input.length + 1);
  const length = chance.below(chance.isOneIn(4) ? input.length - at + 1 : 5);
  const before = input.subarray(0, at);
  const part = input.subarray(at, at + length);
  const after = input.subarray(at + length);
  switch (chance.below(7)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, part, part, after]);
    case 2:
      return Buffer.concat([before, word(words, chance), part, after]);
    case 3:
      return Buffer.concat([before, word(words, chance), after]);
    case 4: {
      const other = chance.pick(others);
      const from = chance.below(other.length + 1);
      return Buffer.concat([before, other.subarray(from, from + chance.below(other.length + 1)), after]);
    }
    case 5: {
      const flipped = new Uint8Array(input);
      if (flipped.length > 0) flipped[at % flipped.length]! ^= 1 << chance.below(8);
      return flipped;
    }
    default: {
      const set = new Uint8Array(input);
      if (set.length > 0)
        set[at % set.length] = chance.isOneIn(2) ? chance.below(256) : chance.pick(NOTABLE_BYTES);
      return set;
    }
  }
}

function word(words: readonly Uint8Array[], chance: Seeded): Uint8Array {
  return words.length > 0 ? chance.pick(words) : new Uint8Array([chance.below(256)]);
}
