import { z } from 'zod';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { parsePlainDay } from '../formats/day.ts';
import { list, numeric, readJson } from '../formats/json.ts';
import type { FeedRequest, Provider } from '../provider.ts';
import { parsedOf } from './adapter/parsed.ts';
import { settingsOf, urlFrom } from './adapter/settings.ts';

const Body = list(z.object({ d: z.string(), v: list(numeric) }));

/** Auction prices of precious metals. They require a licence from the LBMA or its administrators. */
export const lbma: Provider = {
  ...settingsOf('lbma'),
  requests() {
    return this.series.map(({ id }) => ({ url: urlFrom(this.urls.series!, { id }), series: id }));
  },
  parse(body, request) {
    const rows = readJson(body, Body);
    if (rows.length === 0) throw new Error('the list is empty');
    const id = request.series ?? nameIn(request);
    if (!id) throw new Error('neither the body nor the request names the metal');
    const collector = new Collector();
    for (const [i, { d, v }] of rows.entries()) {
      const where = `entry ${i}`;
      const day = parsePlainDay(d.slice(0, 10));
      const dollars = readCell(v[0]); // the order is USD, GBP, EUR
      if (day === undefined) collector.refuse(where, `${quote(d)} is not a day`);
      else if (dollars === 'missing' || dollars === 0)
        collector.missing++; // 0 means that no price was set
      else if (dollars === undefined) collector.refuse(where, `${quote(String(v[0]))} is not a number`);
      else collector.addValue(id, day, dollars, where);
    }
    return parsedOf(collector, { complete: true });
  },
};

function nameIn({ url }: FeedRequest): string | undefined {
  return /([a-z_]+)\.json(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase();
}
