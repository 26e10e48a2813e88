import type { Derivation } from '../../../market/analytics/closes.ts';
import { FIRST_DAY, LAST_DAY, MS_PER_DAY, parseDay, printDay, utcDay } from '../../../market/day.ts';
import { parseInstant, printInstant } from '../../../market/intraday/instant.ts';
import {
  INTRADAY_INTERVALS,
  INTRADAY_MS,
  type IntradayInterval,
  MINUTE_MS,
  startOf,
} from '../../../market/intraday/interval.ts';
import { refuse } from '../../errors/errors.ts';
import type { EndpointContext } from '../../model/endpoint.ts';
import type { QueryParams } from '../../model/query.ts';
import { cursorScopeOf, readCursor } from '../../params/cursor.ts';
import { readDerivation } from '../../params/derivation.ts';
import { readWideField } from '../../params/layout.ts';
import { echo, readSymbolSet, requiredDate, single, singleUnlessEmpty } from '../../params/parameters.ts';
import { type RatesQuery, readRates } from '../../params/rates-query.ts';
import { fieldsOf, type RowFields } from '../row-fields.ts';
import { BAR_FIELDS } from '../wide-table.ts';

/** Where a page of intraday rows starts: the start of an interval, in ms, and the index of a symbol in the request. */
export interface IntradayCursor {
  at: number;
  symbolIndex: number;
}

/** A request for bars shorter than a day. It is answered from the ledger. */
export interface IntradayQuery extends RatesQuery {
  readsLedger: true;
  interval: IntradayInterval;
  /** The starts of the first and of the last interval, in ms. */
  first: number;
  last: number;
  /** As in the response. */
  startDate: string;
  endDate: string;
  derivation: Derivation | undefined;
  fields: RowFields;
  wideField: string | undefined;
  /** Identifies the request, so that a cursor is not accepted by another. */
  cursorScope: string;
  from: IntradayCursor;
}

/** Tells intraday queries from those for days and longer intervals: only they always read the ledger. */
export function isIntraday(query: RatesQuery): query is IntradayQuery {
  return 'readsLedger' in query;
}

/** The requested interval, if it is shorter than a day. */
export function intradayInterval(query: QueryParams): IntradayInterval | undefined {
  const text = single(query, 'interval')?.toLowerCase();
  return INTRADAY_INTERVALS.find((one) => one === text);
}

export function readIntraday(context: EndpointContext, interval: IntradayInterval): IntradayQuery {
  const { query, plan } = context;
  const symbolSet = readSymbolSet(query, plan);
  const start = readTime(query, 'startDate', 'first');
  const end = readTime(query, 'endDate', 'last');
  if (start.ms > end.ms) throw refuse('invalid_range', { startDate: start.text, endDate: end.text });
  const derivation = readDerivation(query);
  const fields = fieldsOf(derivation);
  const names = [...BAR_FIELDS, ...fields.names];
  const wideField = readWideField(query, context.format, names, derivation);
  const asOf = singleUnlessEmpty(query, 'asOf');
  if (asOf !== undefined) {
    throw refuse('invalid_parameter', {
      name: 'asOf',
      received: echo(asOf),
      expected: 'left out for intervals shorter than a day',
    });
  }
  const ms = INTRADAY_MS[interval];
  const first = startOf(start.ms + ms - 1, ms);
  const parts = [symbolSet.codes, first, end.ms, interval, JSON.stringify(derivation ?? ''), wideField];
  const scope = cursorScopeOf(query, parts);
  const cursor = readCursor(query, scope);
  return {
    ...readRates(context, symbolSet, { name: 'startDate', day: utcDay(start.ms) }),
    readsLedger: true,
    interval,
    first,
    last: startOf(end.ms, ms),
    startDate: start.text,
    endDate: end.text,
    derivation,
    fields,
    wideField,
    cursorScope: scope,
    from: cursor
      ? { at: Math.max(first, cursor.day * MINUTE_MS), symbolIndex: cursor.symbolIndex } // a forged one may start earlier
      : { at: first, symbolIndex: 0 },
  };
}

/** Reads a time, or a day, which stands for its first or its last millisecond in UTC. */
function readTime(query: QueryParams, name: string, edge: 'first' | 'last'): { ms: number; text: string } {
  const text = requiredDate(query, name);
  const day = parseDay(text);
  if (day !== undefined) {
    return { ms: edge === 'first' ? day * MS_PER_DAY : (day + 1) * MS_PER_DAY - 1, text: printDay(day) };
  }
  const ms = parseInstant(text);
  if (ms === undefined || utcDay(ms) < FIRST_DAY || utcDay(ms) > LAST_DAY) {
    throw refuse('invalid_date', { name, received: echo(text), mayBeTime: true });
  }
  return { ms, text: printInstant(ms) };
}
