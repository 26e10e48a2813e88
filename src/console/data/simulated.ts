/**
 * Whether any part of a price is simulated. `source` names all of its sources, separated by commas: a simulated price that a real
 * exchange rate converted, or a formula with real prices beside simulated ones, is not real.
 */
export function isSimulated(source: string): boolean {
  return source.split(', ').includes('simulated');
}
