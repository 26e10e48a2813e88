/** Cents, grams of a troy ounce, kilograms, pounds and ounces of a tonne: what a price jumps by when its unit changes under it. */
const FACTORS = [100, 31.1034768, 1000, 2204.62262185, 32150.7465686];
/** A day's own move may come on top of the jump. */
const TOLERANCE = 0.1;

/** The factor between two units that a price has jumped by, up or down. A change of sign is not a change of unit. */
export function unitFactor(from: number | undefined, to: number): number | undefined {
  if (from === undefined || from === 0 || to / from <= 0) return undefined;
  const ratio = to / from >= 1 ? to / from : from / to;
  return FACTORS.find((factor) => Math.abs(ratio / factor - 1) <= TOLERANCE);
}
