/** Days as text, YYYY-MM-DD, in UTC. */

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

export function daysBetween(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000);
}

/** The spans of at most `maxDays` between their ends that cover first to last, in order. All but the first are full. */
export function spans(first: string, last: string, maxDays: number): [string, string][] {
  const found: [string, string][] = [];
  for (let end = last; end >= first; end = addDays(end, -maxDays - 1)) {
    const start = addDays(end, -maxDays);
    found.unshift([start > first ? start : first, end]);
  }
  return found;
}
