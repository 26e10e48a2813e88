/** One parser under fuzzing. */
export interface Target {
  name: string;
  /** Inputs that reach far into it. */
  seeds: readonly Uint8Array[];
  /** Words that mean something to it. */
  words: readonly string[];
  /** Feeds it an input. Throws when it breaks, or when what it makes of the input breaks its law. */
  run(input: Uint8Array): void;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A target that reads text. */
export function textTarget(
  name: string,
  seeds: readonly string[],
  words: readonly string[],
  run: (text: string) => void,
): Target {
  return {
    name,
    seeds: seeds.map((seed) => encoder.encode(seed)),
    words,
    run: (input) => run(decoder.decode(input)),
  };
}

/** The law of a target. */
export function law(holds: boolean, otherwise: string): void {
  if (!holds) throw new TypeError(otherwise);
}

/** A plain Error is an answer: the input was refused in words. Anything else, such as a TypeError of a bug, is not. */
export function orRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.constructor === Error && error.message !== '') return undefined;
    throw error;
  }
}
