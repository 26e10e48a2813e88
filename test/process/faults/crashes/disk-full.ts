import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../../support/load.ts';
import { eventually, type Program } from '../../../support/program.ts';
import { count, type Environment, type Settings, usedOf } from '../environment.ts';
import { PricePusher, TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

const DISK_MB = 64;

export const diskFull = row('disk-full', {
  fault: 'the disk with the ledger and the spool is completely full',
  mustHold: 'prices are still served; new ones are refused, with an alarm; recovers by itself',
  lacks: () => (canMount() ? undefined : 'right to mount a small file system (root on Linux)'),
  async run(environment, { seconds, connections, pauseMs }) {
    const disk = new SmallDisk(environment, DISK_MB);
    const posts: string[] = [];
    const receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        posts.push(((await request.json()) as { type: string }).type);
        return new Response();
      },
    });
    environment.atEnd(() => receiver.stop(true));
    const settings: Settings = {
      ...(await environment.settings()),
      OPENPIT_DATA_DIR: join(disk.folder, 'data'),
      OPENPIT_ADMIN_TOKEN: TOKEN,
      OPENPIT_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}`,
    };
    const { key } = await environment.account(settings, 1_000_000_000);
    const { key: newcomer } = await environment.account(settings, 1_000_000_000, 1);
    let program = await environment.program(settings);
    const pusher = new PricePusher();
    await eventually(async () => (await pusher.send(program.url)).bars === 200);
    await eventually(async () => (await program.get('/rates/latest?symbols=XAU', key)).status === 200);
    let answered = 1;

    await disk.fill();
    const stop = new AbortController();
    const url = `${program.url}/rates/latest?symbols=XAU`;
    const loading = load({ url, key, connections, until: stop.signal, pauseMs });
    const pushes: number[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
      await disk.fill(); // takes every byte that is freed, as a runaway log would
      const { ticks, bars } = await pusher.send(program.url);
      pushes.push(ticks, bars);
      await Bun.sleep(100);
    }
    environment.holds(
      (await program.get('/symbols', newcomer)).status === 200,
      'a new customer is not served',
    );
    environment.holds(await alarmIs(program, true), '/health and /metrics do not say that the disk is full');
    await eventually(async () => posts.includes('disk.full'));
    environment.holds(
      /"event":"alarm","name":"disk.full".*"advice":"free space on the disk of OPENPIT_DATA_DIR/.test(
        program.stderr,
      ),
      'the log has no alarm that says what to do',
    );
    stop.abort();
    const { statuses, broken } = await loading;
    answered += statuses.get(200) ?? 0;
    environment.holds(
      broken === 0 && statuses.size === 1,
      `answers: ${JSON.stringify([...statuses])}, broken ${broken}`,
    );
    environment.holds(
      pushes.every((status) => status === 503),
      `pushes were answered with ${[...new Set(pushes)].join()}`,
    );

    const freed = performance.now();
    disk.free();
    await eventually(async () => (await pusher.send(program.url)).ticks === 200);
    const backMs = performance.now() - freed;
    environment.holds(await alarmIs(program, false), 'the alarm is not over');
    environment.holds(
      (await usedOf(program, key)) === answered,
      `${answered} answered, ${await usedOf(program, key)} used`,
    );

    await disk.fill();
    await program.end('SIGKILL');
    disk.free();
    program = await environment.program(settings);
    environment.holds((await usedOf(program, key)) === answered, 'a kill on the full disk lost counts');
    const missing = pusher.missingIn(join(settings.OPENPIT_DATA_DIR!, 'openpit.db'));
    environment.holds(missing === 0, `${missing} acknowledged prices are lost`);
    await environment.holdsInvariant(settings);
    await withoutSpool(environment, disk);
    return {
      tried: `a disk of ${DISK_MB} MB kept full for ${seconds} s under ${connections} connections, ${pushes.length} pushes; then a kill on the full disk; then a replica on PostgreSQL started without disk space for its spool`,
      figures: `${count(answered)} answers, all 200, and ${count(answered)} counted; every push 503; alarm in log, /health, /metrics and webhook; prices accepted again ${Math.round(backMs)} ms after space was freed`,
    };
  },
});

/** A replica that cannot store its counts refuses requests, and serves as soon as it can. */
async function withoutSpool(environment: Environment, disk: SmallDisk): Promise<void> {
  const settings = {
    ...(await environment.settings('postgres')),
    OPENPIT_DATA_DIR: join(disk.folder, 'replica'),
  };
  const { key } = await environment.account(settings, 1_000_000);
  mkdirSync(settings.OPENPIT_DATA_DIR, { recursive: true });
  await disk.fill(64 * 1024);
  const program = await environment.program(settings);
  const { status } = await program.get('/symbols', key);
  environment.holds(status === 503, `without disk space for its spool it answers ${status}`);
  disk.free();
  await eventually(async () => (await program.get('/symbols', key)).status === 200);
  environment.holds((await usedOf(program, key)) === 1, 'what it refused was counted');
}

async function alarmIs(program: Program, full: boolean): Promise<boolean> {
  const health = (await (await program.get('/health', '')).json()) as { diskFull: boolean };
  const metrics = await program.metrics(TOKEN);
  return health.diskFull === full && metrics.includes(`openpit_disk_full ${Number(full)}\n`);
}

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'openpit-disk-'));
  const can = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).exitCode === 0;
  if (can) Bun.spawnSync(['umount', folder]);
  rmSync(folder, { recursive: true });
  return can;
}

/** A file system in memory that something else fills. */
class SmallDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'openpit-disk-'));
  readonly #filler = join(this.folder, 'filler');

  constructor(environment: Environment, megabytes: number) {
    const { folder } = this;
    environment.atEnd(() => {
      Bun.spawnSync(['umount', '-l', folder]);
      rmSync(folder, { recursive: true });
    });
    const made = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
    if (made.exitCode !== 0) throw new Error(`no small disk: ${made.stderr}`);
  }

  /** Writes until the disk is full, or the given number of bytes. */
  async fill(leaving = 0): Promise<void> {
    const file = openSync(this.#filler, 'a');
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        if (writeSync(file, new Uint8Array(size)) < size) size = Math.floor(size / 2);
      } catch {
        size = Math.floor(size / 2);
      }
    }
    if (leaving > 0) ftruncateSync(file, fstatSync(file).size - leaving);
    closeSync(file);
    if (leaving > 0) return;
    const { bavail } = statfsSync(this.folder);
    if (bavail !== 0) throw new Error(`${bavail} blocks are still free`);
  }

  free(): void {
    rmSync(this.#filler);
  }
}
