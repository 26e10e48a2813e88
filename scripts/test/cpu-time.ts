import { existsSync, readFileSync } from 'node:fs';

const STAT = '/proc/self/stat';
/** The unit of `STAT`: `getconf CLK_TCK` is 100 on every Linux system. */
const MS_PER_TICK = 10;

/**
 * What the ended children of this process, and theirs, have used of the processor, on Linux. That is without most of a browser:
 * its processes are not waited for by their parent, and use three times as much as the test itself.
 */
export function childrenCpuMs(): number | undefined {
  if (!existsSync(STAT)) return undefined;
  const stat = readFileSync(STAT, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may contain blanks
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK;
}
