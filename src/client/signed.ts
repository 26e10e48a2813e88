/** A decimal number with its sign, also if it is positive. Zero has none. */
export function signed(number: string): string {
  return /^-|^0(\.0*)?$/.test(number) ? number : `+${number}`;
}
