import { ABUSE_SCALES } from './abuse-scales.ts';

/**
 * How hard each row is tried: in CI, where the whole set has three minutes, and at full scale by `npm run faults`.
 * Everything that makes a row longer or harder is here and nowhere else.
 */
export const SCALES = {
  'kill-sqlite': {
    ci: { kills: 6, connections: 16 },
    full: { kills: 200, connections: 32 },
  },
  ...ABUSE_SCALES,
} as const satisfies Record<string, { ci: object; full: object }>;

export type ScaleName = 'ci' | 'full';
export type RowName = keyof typeof SCALES;

/** The numbers of one row, at either scale. */
export type ScaleOf<Name extends RowName> = Widened<(typeof SCALES)[Name]['ci']>;

type Widened<T> = { readonly [K in keyof T]: T[K] extends number ? number : T[K] };
