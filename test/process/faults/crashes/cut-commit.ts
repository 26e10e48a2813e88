import { TcpProxy } from '../../../support/http/tcp-proxy.ts';
import { load } from '../../../support/load.ts';
import { newDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/program.ts';
import { count, usedOf } from '../environment.ts';
import { PricePusher, TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

export const cutCommit = row('cut-commit', {
  fault: 'the connection to PostgreSQL breaks after COMMIT, before the reply',
  mustHold: 'nothing is granted or counted twice',
  async run(environment, { cuts, connections, pauseMs }) {
    const url = await newDatabase();
    const proxy = await TcpProxy.open(Number(new URL(url).port));
    environment.atEnd(() => proxy.close());
    const straight = { ...(await environment.settings()), OPENPIT_DATABASE_URL: url };
    const settings = { ...straight, OPENPIT_DATABASE_URL: proxy.through(url), OPENPIT_ADMIN_TOKEN: TOKEN };
    const quota = 1_000_000;
    const { key } = await environment.account(straight, quota);
    const program = await environment.program(settings);
    const stop = new AbortController();
    const loading = load({
      url: `${program.url}/symbols`,
      key,
      connections,
      until: stop.signal,
      pauseMs,
    });
    // Sends the same records until each is acknowledged: a commit whose reply was lost is sent twice.
    const pusher = new PricePusher();
    let sent = 0;
    const pushing = (async () => {
      for (let n = 1; !stop.signal.aborted; n++) {
        const tick = { symbol: 'XAU', price: 2_000, at: Date.now() - 1_000, id: `cut-${n}` };
        while ((await pusher.post(program.url, 'ticks', [tick])) !== 200) await Bun.sleep(5);
        sent = n;
        await Bun.sleep(5);
      }
    })();
    let done = 0;
    while (done < cuts) {
      await Bun.sleep(200 + 300 * Math.random());
      proxy.cutBehind = (bytes) => {
        if (!bytes.includes('COMMIT')) return false;
        done++;
        proxy.cutBehind = () => false;
        return true;
      };
    }
    proxy.cutBehind = () => false;
    stop.abort();
    const { statuses, broken } = await loading;
    await pushing;
    const answered = statuses.get(200) ?? 0;
    await eventually(async () => (await program.get('/usage', key)).status === 200);
    const used = await usedOf(program, key);
    environment.holds(answered > 0 && sent > 0, `no request was answered, or no tick accepted`);
    environment.holds(used === answered, `${answered} were answered and ${used} counted`);
    environment.holds(broken === 0, `${broken} requests broke`);
    const kinds = [...statuses.keys()].filter((status) => status !== 200 && status !== 503);
    environment.holds(kinds.length === 0, `answers with ${kinds.join()}`);
    await program.end('SIGTERM');
    await environment.holdsInvariant(straight);
    const ticks = await ticksIn(url);
    environment.holds(ticks === sent, `${sent} ticks were sent, and ${ticks} are there`);
    return {
      tried: `${count(done)} connections cut after COMMIT, ${count(answered)} answers, ${count(sent)} ticks pushed until acknowledged`,
      figures: `used ${count(used)}, ${count(ticks)} ticks in the ledger, ${count(statuses.get(503) ?? 0)} responses with 503`,
    };
  },
});

async function ticksIn(url: string): Promise<number> {
  const sql = new Bun.SQL(url, { max: 1 });
  const [found] = await sql`SELECT count(*) AS n FROM tick`;
  await sql.close();
  return Number(found.n);
}
