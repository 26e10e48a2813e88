import type { Push, PushOutcome } from '../../ledger/prices/pushes.ts';

/**
 * A push as the serving thread posts it to the feed thread. Cloning 10,000 objects into a message would block requests for
 * 17 ms; typed arrays take less than 1 ms.
 */
export type PackedPush =
  | { kind: 'ticks'; source: string; numbers: Float64Array; ids: string }
  | { kind: 'bars'; source: string; numbers: Float64Array; received: number; accept: boolean };

/** `symbolId, at, received, price` for each tick. */
const PER_TICK = 4;
/** `symbolId, day, open, high, low, close` for each bar. */
const PER_BAR = 6;

export function packPush(push: Push): PackedPush {
  if (push.kind === 'bars') {
    const { bars, ...rest } = push;
    const numbers = new Float64Array(bars.length * PER_BAR);
    for (const [i, { symbolId, day, open, high, low, close }] of bars.entries()) {
      numbers.set([symbolId, day, open, high, low, close], i * PER_BAR);
    }
    return { ...rest, numbers };
  }
  const numbers = new Float64Array(push.ticks.length * PER_TICK);
  let place = 0;
  for (const { symbolId, at, received, price } of push.ticks) {
    numbers[place++] = symbolId;
    numbers[place++] = at;
    numbers[place++] = received;
    numbers[place++] = price;
  }
  return {
    kind: 'ticks',
    source: push.source,
    numbers,
    ids: JSON.stringify(push.ticks.map((tick) => tick.id)),
  };
}

export function unpackPush(packed: PackedPush): Push {
  const { numbers } = packed;
  if (packed.kind === 'bars') {
    const { kind, source, received, accept } = packed;
    const bars = Array.from({ length: numbers.length / PER_BAR }, (_, i) => {
      const [symbolId, day, open, high, low, close] = numbers.subarray(i * PER_BAR, (i + 1) * PER_BAR);
      return { symbolId: symbolId!, day: day!, open: open!, high: high!, low: low!, close: close! };
    });
    return { kind, source, bars, received, accept };
  }
  const ticks = (JSON.parse(packed.ids) as string[]).map((id, i) => {
    const from = i * PER_TICK;
    return {
      symbolId: numbers[from]!,
      at: numbers[from + 1]!,
      received: numbers[from + 2]!,
      price: numbers[from + 3]!,
      id,
    };
  });
  return { kind: 'ticks', source: packed.source, ticks };
}

/** Packs the outcome of each record. JSON is twenty times faster than structured cloning. */
export function packOutcomes(outcomes: readonly PushOutcome[]): string {
  return JSON.stringify(outcomes);
}

export function unpackOutcomes(packed: string): PushOutcome[] {
  return JSON.parse(packed) as PushOutcome[];
}
