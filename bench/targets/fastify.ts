/**
 * The same job done the usual way: Fastify with schemas over a database, one UPDATE for each request's unit.
 * `bun targets/fastify.ts sqlite FILE` or `bun targets/fastify.ts postgres URL`. It fills its own tables at the start:
 * 130 symbols with 3,000 days each, indexed by symbol and day. Statements are prepared, SQLite writes ahead.
 */
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Bar, openStore, SYMBOLS } from './fastify-store.ts';

const [engine = '', place = ''] = process.argv.slice(2);
const store = await openStore(engine, place);

const price = { type: 'number' };
const prices = { type: 'object', additionalProperties: price };
const ohlc = { type: 'object', properties: { open: price, high: price, low: price, close: price } };
const bars = { type: 'object', additionalProperties: ohlc };
const success = { type: 'boolean' };
const symbols = { type: 'string', minLength: 1, maxLength: 2_000 };
const date = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' };

const app = Fastify();

/** Takes one unit of the key's quota, in the database, as most services do. */
app.addHook('preHandler', async (request: FastifyRequest, reply: FastifyReply) => {
  const key = request.headers['x-api-key'];
  if (typeof key !== 'string') return reply.code(401).send({ success: false, message: 'no key' });
  const left = await store.spend(Bun.hash(key).toString(16));
  if (left === undefined) return reply.code(429).send({ success: false, message: 'quota used up' });
  reply.header('RateLimit', `"month";r=${left};t=1000`);
  reply.header('Access-Control-Allow-Origin', '*');
  reply.header('X-Content-Type-Options', 'nosniff');
  reply.header('Cache-Control', 'private, no-cache');
});

app.get<{ Querystring: { symbols: string } }>(
  '/rates/latest',
  {
    schema: {
      querystring: { type: 'object', required: ['symbols'], properties: { symbols } },
      response: {
        200: { type: 'object', properties: { success, timestamp: { type: 'integer' }, rates: prices } },
      },
    },
  },
  async (request) => ({
    success: true,
    timestamp: Math.floor(Date.now() / 1000),
    rates: await store.latest(request.query.symbols.split(',')),
  }),
);

app.get<{ Querystring: { symbols: string; startDate: string; endDate: string } }>(
  '/rates/time-series',
  {
    schema: {
      querystring: {
        type: 'object',
        required: ['symbols', 'startDate', 'endDate'],
        properties: { symbols, startDate: date, endDate: date },
      },
      response: {
        200: {
          type: 'object',
          properties: { success, rates: { type: 'object', additionalProperties: bars } },
        },
      },
    },
  },
  async (request) => {
    const { startDate, endDate } = request.query;
    const rows = await store.bars(request.query.symbols.split(','), startDate, endDate);
    const rates: Record<string, Record<string, Omit<Bar, 'symbol' | 'day'>>> = {};
    for (const { symbol, day, open, high, low, close } of rows) {
      rates[day] ??= {};
      rates[day][symbol] = { open, high, low, close };
    }
    return { success: true, rates };
  },
);

await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as { port: number };
console.log(`listens on http://127.0.0.1:${port} with ${SYMBOLS.length} symbols`);
