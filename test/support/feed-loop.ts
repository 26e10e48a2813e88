/** The feeds of one replica, with one feed whose provider a test plays: bun test/support/feed-loop.ts LEDGER PROVIDER */
import { systemClock } from '../../src/clock.ts';
import { FeedLoop } from '../../src/feeds/loop.ts';
import { playedProvider } from './played-provider.ts';

const [ledgerUrl = '', providerUrl = ''] = process.argv.slice(2);
const providing = { providers: [playedProvider(providerUrl)], secrets: {} };
const loop = new FeedLoop(ledgerUrl, false, systemClock, ({ kind }) => console.log(kind), providing);
process.on('SIGTERM', () => loop.stop());
await loop.run();
