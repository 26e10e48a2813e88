import { Database } from 'bun:sqlite';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COUNTED_ENDPOINTS } from '../../../../src/gate/endpoints.ts';
import { openSpoolFile } from '../../../../src/gate/spool/spool-file.ts';
import { readOwner } from '../../../../src/gate/spool/spool-record.ts';
import { Ledger } from '../../../../src/ledger/ledger.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { newFolder } from '../../../support/ledger.ts';
import { load } from '../../../support/load.ts';
import { count, type Environment, usedOf } from '../environment.ts';
import { row } from '../row.ts';

const TICKS_PER_WRITE = 3;

export const cutFiles = row('cut-files', {
  fault: 'the write-ahead log of SQLite, or the spool, is truncated at any byte or has a corrupt byte',
  mustHold: 'the ledger opens; no number is ever wrong',
  async run(environment, { writes, everyBytes, spools }) {
    const log = await cutLog(environment, writes, everyBytes);
    const spool = await cutSpool(environment, spools);
    return {
      tried: `a log of ${count(log.bytes)} bytes with ${writes} writes, truncated at ${count(log.cuts)} positions; ${spools} truncated and ${spools} damaged spools of the program`,
      figures: `every ledger opened without damage, with exactly the complete writes (${log.seen.join(', ')}); ${spool.exact} counts were exact, ${spool.less} were lower by the count of the damaged record, none was higher`,
    };
  },
});

/** Truncates a write-ahead log that holds writes that are not yet in the main file. */
async function cutLog(environment: Environment, writes: number, everyBytes: number) {
  const folder = newFolder();
  const path = join(folder, 'ledger.db');
  const ledger = await Ledger.open(path, systemClock);
  const [symbol] = await ledger.symbols.list();
  await ledger.engine.read.unsafe('PRAGMA wal_checkpoint(TRUNCATE)');
  const file = readFileSync(path);
  for (let n = 1; n <= writes; n++) {
    const ticks = Array.from({ length: TICKS_PER_WRITE }, (_, i) => ({
      ...{ symbolId: symbol!.id, at: n, received: n, price: n },
      id: `${n}-${i}`,
    }));
    await ledger.ticks.append(ticks, 'cut');
  }
  const log = readFileSync(`${path}-wal`);
  await ledger.close();
  const seen = new Set<number>();
  let cuts = 0;
  const trial = join(folder, 'trial.db');
  let last = 0;
  for (let length = 0; length <= log.length; length += everyBytes) {
    writeFileSync(trial, file);
    rmSync(`${trial}-shm`, { force: true });
    writeFileSync(`${trial}-wal`, log.subarray(0, length));
    const there = ticksIn(trial);
    cuts++;
    const whole = there.length / TICKS_PER_WRITE;
    const expected = Array.from({ length: there.length }, (_, i) => Math.floor(i / TICKS_PER_WRITE) + 1);
    environment.holds(
      Number.isInteger(whole) && whole >= last,
      `cut at ${length}: ${there.length} ticks after ${last} writes`,
    );
    environment.holds(String(there) === String(expected), `cut at ${length}: the prices are ${there.join()}`);
    last = whole;
    seen.add(whole);
  }
  environment.holds(everyBytes > 1 || last === writes, `the whole log has ${last} of ${writes} writes`);
  return { bytes: log.length, cuts, seen: [...seen] };
}

/** The prices of all ticks in a file that must pass the integrity check. */
function ticksIn(path: string): number[] {
  const database = new Database(path);
  try {
    database.run('PRAGMA synchronous = OFF'); // the disk is not under test and would take most of the time
    const [sound] = database.query('PRAGMA quick_check').values()[0]!;
    if (sound !== 'ok') throw new Error(`not sound: ${sound}`);
    return database
      .query('SELECT price FROM tick ORDER BY price, tick_id')
      .values()
      .map(([price]) => Number(price));
  } finally {
    database.close();
  }
}

/** Truncates the spool of a killed program, or damages one byte, before the next start. */
async function cutSpool(environment: Environment, spools: number) {
  const settings = await environment.settings();
  const { key } = await environment.account(settings, 1_000_000);
  const program = await environment.program(settings);
  const { statuses } = await load({ url: `${program.url}/symbols`, key, connections: 4, requests: 500 });
  const answered = statuses.get(200) ?? 0;
  await program.end('SIGKILL');
  const left = newFolder();
  cpSync(settings.OPENPIT_DATA_DIR!, left, { recursive: true });
  const name = readdirSync(join(left, 'spool')).find((file) => file.endsWith('.spool'))!;
  const whole = readFileSync(join(left, 'spool', name));
  const positions = recordBytes(join(left, 'spool', name));
  const result = { exact: 0, less: 0 };
  for (let n = 0; n < 2 * spools; n++) {
    const at = positions[Math.floor((positions.length * (Math.floor(n / 2) + 0.5)) / spools)]!;
    const damaged = new Uint8Array(n % 2 ? whole : whole.subarray(0, at));
    if (n % 2) damaged[at]! ^= 1 << (n % 8);
    const folder = newFolder();
    cpSync(left, folder, { recursive: true });
    mkdirSync(join(folder, 'spool'), { recursive: true });
    writeFileSync(join(folder, 'spool', name), damaged);
    const again = await environment.program({ ...settings, OPENPIT_DATA_DIR: folder });
    const counted = await usedOf(again, key);
    environment.holds(counted <= answered, `${answered} were answered and ${counted} are counted`);
    if (counted === answered) result.exact++;
    else result.less++;
    await again.end('SIGTERM');
    await environment.holdsInvariant({ ...settings, OPENPIT_DATA_DIR: folder });
  }
  return result;
}

/** The positions in a file of all bytes of its only record. */
function recordBytes(path: string): number[] {
  const file = openSpoolFile(path)!;
  const index = Array.from({ length: file.count }, (_, i) => i).find(
    (i) => readOwner(file.ownerArea(i)) !== 'empty',
  )!;
  const counts = COUNTED_ENDPOINTS.map((_, counter) => {
    const at = file.firstCountAt(index) + counter * file.block;
    return file.words.subarray(at, at + 1);
  });
  return [file.ownerArea(index), ...counts].flatMap(({ byteOffset, byteLength }) =>
    Array.from({ length: byteLength }, (_, i) => byteOffset + i),
  );
}
