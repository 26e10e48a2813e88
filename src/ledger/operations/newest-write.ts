import { asNumber, type Sql } from '../engine/rows.ts';

/** When a price was last written, in ms. */
export async function newestPriceWrite(read: Sql): Promise<number | undefined> {
  const [tick] = await read`SELECT received FROM tick ORDER BY revision DESC LIMIT 1`;
  const [bar] = await read`SELECT b.recorded_at FROM bar b JOIN
      (SELECT symbol_id, last_day, revision FROM bar_change ORDER BY revision DESC LIMIT 1) c
    ON b.symbol_id = c.symbol_id AND b.day = c.last_day AND b.revision = c.revision`;
  if (!tick && !bar) return undefined;
  return Math.max(asNumber(tick?.received ?? 0), asNumber(bar?.recorded_at ?? 0));
}

/** When a price or a heartbeat was last recorded, in ms. */
export async function newestWrite(read: Sql): Promise<number | undefined> {
  const [replica] = await read`SELECT max(seen) AS at FROM replica`;
  const times = [(await newestPriceWrite(read)) ?? 0, asNumber(replica?.at ?? 0)];
  return Math.max(...times) || undefined;
}
