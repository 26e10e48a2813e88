/** A parser to fuzz. */
export interface Target {
  name: string;
  /** Valid inputs to start with. */
  seeds: readonly Uint8Array[];
  /** Tokens of its grammar, to insert into inputs. */
  words: readonly string[];
  /** Parses an input. Throws if the parser crashes or its result violates a law. */
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

/** Throws if a law of the target is violated. */
export function law(holds: boolean, violation: string): void {
  if (!holds) throw new TypeError(violation);
}

/** A plain Error with a message is a refusal of the input. Anything else, such as a TypeError, is a bug and is thrown. */
export function orRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && error.constructor === Error && error.message !== '') return undefined;
    throw error;
  }
}
