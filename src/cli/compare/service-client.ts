import { unreachable } from '../../client/ask.ts';
import type { JsonObject, JsonValue, ServiceResponse } from './differences.ts';

/** A service of this interface family. */
export interface ServiceClient {
  base: string;
  key: string;
}

/** What is compared. */
export interface Sample {
  symbols: readonly string[];
  date: string;
  startDate: string;
  endDate: string;
}

const TIMEOUT_MS = 30_000;

/** The requests for a sample, as paths below the base URL. */
export function requestsFor({ symbols, date, startDate, endDate }: Sample): string[] {
  const list = symbols.map(encodeURIComponent).join(',');
  const range = `startDate=${startDate}&endDate=${endDate}`;
  return [
    '/symbols',
    `/rates/latest?symbols=${list}`,
    `/rates/historical?symbols=${list}&date=${date}`,
    `/rates/time-series?symbols=${list}&${range}`,
    `/rates/fluctuation?symbols=${list}&${range}`,
    '/rates/latest',
    '/usage',
  ];
}

/** Sends one request. The list of symbols is reduced to those of the sample, by code. */
export async function ask(
  { base, key }: ServiceClient,
  path: string,
  sample: Sample,
): Promise<ServiceResponse> {
  const response = await send(`${base}${path}`, key);
  if (response.status >= 300 && response.status < 400) {
    const target = response.headers.get('location');
    throw new Error(`${base}${path} redirects to ${target}, which must not get the key; check the address`);
  }
  if (response.status === 404 && path === '/symbols')
    throw new Error(
      `there is nothing at ${base}${path} (status 404); check the address: it is where the interface begins, such as https://rates.example.com/v2`,
    );
  const text = await response.text();
  const body = parse(text);
  if (body === undefined) throw new Error(`${base}${path} did not respond with JSON: ${text.slice(0, 80)}`);
  return { status: response.status, body: path === '/symbols' ? withSymbols(body, sample) : body };
}

async function send(url: string, key: string): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return await fetch(url, { headers: { 'x-api-key': key }, redirect: 'manual', signal });
  } catch (error) {
    throw unreachable(url, error);
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function withSymbols(body: JsonValue, { symbols }: Sample): JsonValue {
  const list = (body as JsonObject).symbols;
  if (!Array.isArray(list)) return body;
  const records = (list as JsonObject[]).filter((record) => symbols.includes(String(record.symbol)));
  return {
    ...(body as JsonObject),
    symbols: Object.fromEntries(records.map((one) => [String(one.symbol), one])),
  };
}
