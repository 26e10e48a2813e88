import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from './command.ts';

/** Refuses a file whose folder is missing. Called first, because the work before the file is written can take an hour. */
export function requireFolderOf(file: string): void {
  if (file === '') throw new UsageError('the name of the file is empty');
  const folder = dirname(file);
  if (!existsSync(folder))
    throw new UsageError(`there is no folder ${folder}; create it, or choose another place`);
  if (!isFolder(folder)) throw new UsageError(`${folder} is not a folder; choose another place`);
  refuseFolder(file);
}

/** For a file whose missing folders are created: refuses a file where one of them should be. */
export function requireCreatable(file: string): void {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  if (!isFolder(folder)) throw new UsageError(`${folder} is not a folder; choose another place`);
  refuseFolder(file);
}

/** Refuses a file to read that is missing. */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`);
  if (isFolder(file)) throw new UsageError(`${file} is a folder; name a file`);
}

/** Refuses a folder where a file should be. */
function refuseFolder(file: string): void {
  if (isFolder(file)) throw new UsageError(`${file} is a folder; add the name of a file`);
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
