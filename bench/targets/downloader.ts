/** Downloads over some connections at once, without a pause, until it is stopped: `bun downloader.ts URL KEY COUNT PATH…`. */
import { RawClient } from '../lib/raw-client.ts';

const [url, key, count, ...paths] = process.argv.slice(2);
let next = 0;
for (let i = 0; i < Number(count); i++) {
  const client = await RawClient.connect(url!);
  void (async () => {
    for (;;) await client.get(paths[next++ % paths.length]!, key!);
  })();
}
console.log('started');
