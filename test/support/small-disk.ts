import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './ledger.ts';

/**
 * Runs a test with a folder on a disk of this size, and with so many inodes if they are limited. Without the right to mount
 * one, it is skipped with a warning.
 */
export async function withSmallDisk(
  megabytes: number,
  run: (folder: string) => Promise<void>,
  inodes?: number,
): Promise<void> {
  const folder = join(newFolder(), 'disk');
  mkdirSync(folder);
  const options = `size=${megabytes}m${inodes === undefined ? '' : `,nr_inodes=${inodes}`}`;
  const command = ['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder];
  if (Bun.spawnSync(command).exitCode !== 0)
    return console.warn('This user may not mount file systems: a full disk is not tested.');
  try {
    await run(folder);
  } finally {
    Bun.spawnSync(['umount', '-l', folder]);
  }
}
