/**
 * Another process on the same ledger. It prints its progress, one word per line, and waits for a line on its input
 * before it continues:
 *   bun test/support/children/child-writer.ts URL write NAME BATCHES    ready … (go) … done
 *   bun test/support/children/child-writer.ts URL hold NAME             ready … (go) … held … (go) … done
 *   bun test/support/children/child-writer.ts URL crowd NAME BATCHES    ready … (go) … done
 * `hold` keeps the revision of accounts locked in between. `crowd` writes without a pause, 10 ms at a time.
 */
import { nextRevision } from '../../../src/ledger/engine/revisions.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { writeBatch } from './batches.ts';

const [url, what, name, batches] = process.argv.slice(2);
if (!url || !name) throw new Error('usage: child-writer.ts URL write|hold|crowd NAME [BATCHES]');

const lines = console[Symbol.asyncIterator]();
const ledger = await Ledger.open(url, systemClock);
await tell('ready');
if (what === 'hold') {
  await ledger.engine.write(async (tx) => {
    await nextRevision(tx, 'accounts');
    await tell('held');
  });
} else if (what === 'crowd') {
  for (let i = 0; i < Number(batches); i++) {
    await ledger.engine.write(async (tx) => {
      await nextRevision(tx, 'accounts');
      await Bun.sleep(10);
    });
  }
} else {
  for (let i = 0; i < Number(batches); i++) await writeBatch(ledger, name, i);
}
await ledger.close();
console.log('done');
process.exit(0); // the input is still open

async function tell(word: string): Promise<void> {
  console.log(word);
  await lines.next();
}
