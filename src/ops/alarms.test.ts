import { expect, test } from 'bun:test';
import { hostname } from 'node:os';
import { fewInodes, fullDisk } from './alarms.ts';

test('the alarm about a full disk says which disk needs space, and on which machine', () => {
  expect(fullDisk(() => undefined)).toEqual([]);
  const advice = 'free space on the disk of PostgreSQL; prices are then accepted again without a restart';
  expect(fullDisk(() => ({ disk: 'the disk of PostgreSQL', isLocal: false }))).toEqual([
    { name: 'disk.full', subject: {}, event: { type: 'disk.full', intake: 'stopped', advice } },
  ]);
  expect(fullDisk(() => ({ disk: 'the disk of OPENPIT_DATA_DIR', isLocal: true }))).toMatchObject([
    { subject: { machine: hostname() }, event: { machine: hostname() } },
  ]);
});

test('the alarm about inodes says where files must be deleted, and how to see how many', () => {
  expect(fewInodes(() => undefined)).toEqual([]);
  const machine = hostname();
  const advice =
    'delete files on the disk of OPENPIT_DATA_DIR, which has space but hardly any inodes for new files (see df -i)';
  expect(fewInodes(() => 'the disk of OPENPIT_DATA_DIR')).toEqual([
    { name: 'disk.inodes', subject: { machine }, event: { type: 'disk.inodes', machine, advice } },
  ]);
});
