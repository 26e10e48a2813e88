import { expect, test } from 'bun:test';
import { fullDisk } from './alarms.ts';

const clock = { now: () => Date.UTC(2026, 10, 18, 8) };

test('the alarm about a full disk says which disk needs space, and is one occurrence per day', () => {
  expect(fullDisk(() => undefined, clock)).toEqual([]);
  expect(fullDisk(() => 'the disk of PostgreSQL', clock)).toEqual([
    {
      name: 'disk.full',
      occurrence: '2026-11-18',
      event: {
        type: 'disk.full',
        intake: 'stopped',
        advice: 'free space on the disk of PostgreSQL; prices are then accepted again without a restart',
      },
    },
  ]);
});
