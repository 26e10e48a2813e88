/** A process that passes fuzzed bodies to one adapter, and prints the outcome and its memory use. */

import { residentMb } from '../monitoring/memory.ts';
import { fuzzFeed } from './fuzzed-feeds.ts';

const [name = '', runs = ''] = process.argv.slice(2);
const warm = Math.ceil(Number(runs) / 10);
fuzzFeed(name, warm);
Bun.gc(true);
const beforeMb = residentMb(process.pid);
const seen = fuzzFeed(name, Number(runs));
Bun.gc(true);
console.log(JSON.stringify({ ...seen, beforeMb, afterMb: residentMb(process.pid) }));
