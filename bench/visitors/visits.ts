/** Opens the public page at a fixed rate, each time as one of many addresses, and prints how often each status came. */

export {};

const { url, visits, addresses, perSecond } = JSON.parse(process.argv[2]!) as {
  url: string;
  visits: number;
  addresses: number;
  perSecond: number;
};

/** What a visitor looks at after the market. */
const SYMBOLS = ['XAU', 'XAG'];
/** How often the page asks for newer quotes. */
const POLLS = 2;
/** The page stays below the burst limit of its plan, which is 5. */
const REQUESTS_PER_SECOND = 4;

const { given } = (await (await fetch(`${url}/console/config`)).json()) as { given: { key: string } };
const statuses: Record<number, number> = {};
let units = 0;

/** The requests of the page, in its order. */
async function visit(address: string): Promise<void> {
  let sent = 0;
  const get = async (path: string) => {
    if (sent++ % REQUESTS_PER_SECOND === 0 && sent > 1) await Bun.sleep(1_000);
    const headers = { 'x-api-key': given.key, 'x-forwarded-for': address };
    const response = await fetch(url + path, { headers });
    await response.arrayBuffer();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    return response;
  };
  await get('/console/config');
  await get('/account');
  const market = await get('/market');
  units++;
  const pass = market.headers.get('openpit-visit') ?? '';
  for (let i = 0; i < POLLS; i++) await get(`/market/quotes?visit=${pass}`);
  const endDate = new Date().toISOString().slice(0, 10);
  const startDate = new Date(Date.now() - 182 * 86_400_000).toISOString().slice(0, 10);
  for (const symbols of SYMBOLS) {
    const query = new URLSearchParams({ symbols, startDate, endDate, interval: 'day' });
    await get(`/units?symbols=${symbols}`);
    await get(`/rates/history?${query}`);
    units++;
  }
}

const start = performance.now();
const all: Promise<void>[] = [];
for (let i = 0; i < visits; i++) {
  const dueMs = (i / perSecond) * 1000 - (performance.now() - start);
  if (dueMs > 0) await Bun.sleep(dueMs);
  const n = i % addresses;
  all.push(visit(`198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`));
}
await Promise.all(all);
console.log(JSON.stringify({ statuses, units, seconds: (performance.now() - start) / 1000 }));
process.exit(0);
