/**
 * SQL condition on the alias of a bar: it is not a withdrawal, and none followed on its day. `isConsidered` is a condition on
 * the alias of a withdrawal.
 *
 * By a plan for an almost empty table, PostgreSQL would join the condition as NOT EXISTS with all bars of the symbol: the undo
 * of 5,000 days read 37 million rows. It looks up the last withdrawal of one day after the other.
 */
export function standingBar(
  bar: string,
  isConsidered: (withdrawal: string) => string = () => 'true',
): string {
  return `${bar}.withdrawn = 0 AND ${bar}.revision >= coalesce((
    SELECT max(w.revision) FROM bar w WHERE w.symbol_id = ${bar}.symbol_id AND w.day = ${bar}.day
      AND w.withdrawn > 0 AND ${isConsidered('w')}), 0)`;
}
