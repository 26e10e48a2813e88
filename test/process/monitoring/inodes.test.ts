import { expect, test } from 'bun:test';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, Program } from '../../support/program.ts';
import { withSmallDisk } from '../../support/small-disk.ts';
import { PricePusher, TOKEN } from '../faults/price-pusher.ts';

const INODES = 60;

test(
  'a disk without inodes raises an alarm until files are deleted, and prices are accepted meanwhile',
  () =>
    withSmallDisk(
      128,
      async (folder) => {
        const settings = { OPENPIT_DATA_DIR: join(folder, 'data'), OPENPIT_ADMIN_TOKEN: TOKEN };
        const program = await Program.start({ ...settings, OPENPIT_DEMO: 'false' });
        const health = async () =>
          (await (await program.get('/health')).json()) as { alarms: string[]; diskFull: boolean };
        try {
          expect((await health()).alarms).toEqual([]);
          const fillers: string[] = [];
          for (let i = 0; statfsSync(folder).ffree > 0; i++) {
            fillers.push(join(folder, `${i}`));
            writeFileSync(fillers[i]!, '');
          }
          expect(await health()).toMatchObject({ alarms: ['disk.inodes'], diskFull: false });
          await eventually(async () =>
            /"name":"disk.inodes".*"advice":"delete files on/.test(program.stderr),
          );
          expect(await new PricePusher().send(program.url)).toEqual({ ticks: 200, bars: 200 });
          for (const file of fillers) rmSync(file);
          expect((await health()).alarms).toEqual([]);
        } finally {
          await program.end();
        }
      },
      INODES,
    ),
  60_000,
);
