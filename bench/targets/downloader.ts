/** Downloads over some connections at once, with pauses, until it is stopped: `bun downloader.ts URL KEY COUNT PAUSE_MS PATH…`. */
import { RawClient } from '../lib/raw-client.ts';

const [url, key, count, pauseMs, ...paths] = process.argv.slice(2);
let next = 0;
for (let i = 0; i < Number(count); i++) {
  const client = await RawClient.connect(url!);
  void (async () => {
    for (;;) {
      await client.get(paths[next++ % paths.length]!, key!);
      if (pauseMs !== '0') await Bun.sleep(Number(pauseMs));
    }
  })();
}
console.log('started');
