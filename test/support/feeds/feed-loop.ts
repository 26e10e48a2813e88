/** The feeds of one replica, with one feed of a stub provider: bun test/support/feeds/feed-loop.ts LEDGER PROVIDER */
import { FeedLoop } from '../../../src/feeds/thread/loop.ts';
import { stubProvider } from './stub-provider.ts';

const [ledgerUrl = '', providerUrl = ''] = process.argv.slice(2);
const providing = { providers: [stubProvider(providerUrl)], secrets: {} };

/** Ten times as fast: what the loop does every 10 s comes every second. */
const start = Date.now();
const clock = { now: () => start + (Date.now() - start) * 10 };
const loop = new FeedLoop({ ledgerUrl, clock, post: ({ kind }) => console.log(kind), setup: providing });
process.on('SIGTERM', () => loop.stop());
await loop.run();
