import { eventually } from '../../../support/program.ts';
import { WallClock } from '../../../support/wall-clock.ts';
import { PricePusher, TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

const DAY = 86_400_000;

export const lateFeed = row('late-feed', {
  fault: 'a provider is dead, and its feed misses its schedule twice',
  mustHold: 'prices are still served, as `stale`; one alarm in the log, /health, /metrics and the webhook',
  lacks: WallClock.lacks,
  async run(environment, { days }) {
    const clock = new WallClock();
    const posts: { type: string; feed: string }[] = [];
    const receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        posts.push((await request.json()) as (typeof posts)[number]);
        return new Response();
      },
    });
    environment.atEnd(() => receiver.stop(true));
    // Outgoing requests of the program go to a local port that never answers.
    const nobody = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: (socket) => void socket.end(), data() {} },
    });
    environment.atEnd(() => nobody.stop(true));
    const proxy = `http://127.0.0.1:${nobody.port}`;
    const settings = {
      ...(await environment.settings()),
      ...clock.settings,
      OPENPIT_ADMIN_TOKEN: TOKEN,
      OPENPIT_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}`,
      ...{ HTTPS_PROXY: proxy, https_proxy: proxy, HTTP_PROXY: '', NO_PROXY: '127.0.0.1' },
    };
    const { key } = await environment.account(settings, 1_000_000);
    const program = await environment.program(settings);
    const date = new Date(Date.now() - 3 * DAY).toISOString().slice(0, 10);
    await eventually(
      async () =>
        (await new PricePusher().post(program.url, 'bars', [{ symbol: 'XAU', date, price: 4_000 }])) === 200,
    );
    await environment.run(settings, 'feed', 'enable', 'lbma');
    const latest = async () => {
      const answer = await program.get('/rates/latest?symbols=XAU', key);
      return (await answer.json()) as { rates: { XAU: number }; metadata: { XAU: { stale: boolean } } };
    };
    const health = async () => (await program.get('/health', '')).json() as Promise<{ lateFeeds: string[] }>;
    await Bun.sleep(3_000);
    environment.holds((await latest()).metadata.XAU.stale === false, 'it is stale before its feed is late');
    environment.holds(
      (await health()).lateFeeds.length === 0 && posts.length === 0,
      'there is an alarm too early',
    );
    for (let day = 1; day <= days; day++) {
      clock.setByMs += DAY;
      await Bun.sleep(500);
    }
    const start = performance.now();
    await eventually(async () => posts.length > 0);
    const toldMs = performance.now() - start;
    const { rates, metadata } = await latest();
    environment.holds(
      rates.XAU === 4_000 && metadata.XAU.stale,
      `served: ${JSON.stringify({ rates, metadata })}`,
    );
    environment.holds((await health()).lateFeeds.includes('lbma'), '/health does not name the feed');
    const metrics = await program.metrics(TOKEN);
    environment.holds(
      metrics.includes('openpit_feed_late{feed="lbma"} 1'),
      '/metrics does not name the feed',
    );
    environment.holds(/"event":"alarm","name":"feed.late.lbma"/.test(program.stderr), 'the log has no alarm');
    await Bun.sleep(5_000);
    environment.holds(
      posts.length === 1 && posts[0]!.type === 'feed.late',
      `posts: ${JSON.stringify(posts)}`,
    );
    return {
      tried: `a feed enabled with a dead provider, the clock moved by ${days} days in steps`,
      figures: `one alarm, posted ${Math.round(toldMs)} ms after the feed was late; the price was served throughout, stale`,
    };
  },
});
