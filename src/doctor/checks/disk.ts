import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { isInUse } from '../../gate/spool/in-use.ts';
import { countUnsettled } from '../../gate/spool/unsettled.ts';
import { hasDiskSpace } from '../../ledger/engine/disk-space.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { plural } from '../../runtime/plural.ts';
import { type Finding, ok, problem, someOf, warning } from './finding.ts';

const GB = 1024 ** 3;
/** Room for some days of ticks of a busy feed. */
const FREE_BYTES_MIN = GB;
const FREE_SHARE_MIN = 0.05;
const INODES_SHARE_MIN = 0.01;

/** Linux file system types. */
const NETWORK_TYPES = new Set([0x6969 /* NFS */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */]);
const MEMORY_TYPES = new Set([0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */]);

/** Free space for the ledger, its log and the spool, and their permissions. */
export function checkDisk(config: Config): Finding[] {
  const path = ledgerPath(config);
  const dataDir = resolve(config.dataDir);
  const folders = new Set(path === undefined ? [dataDir] : [resolve(dirname(path)), dataDir]);
  const places = [...folders].map(nearestExisting);
  const files = places.filter((place) => !statSync(place).isDirectory());
  if (files.length > 0) return files.map(notAFolder);
  const findings = places.flatMap(checkRoom);
  if (path !== undefined) findings.push(...fileSystemOfLedger(dirname(path)));
  findings.push(...fileSystemOfSpool(dataDir), ...checkModes(config), ...checkSpool(join(dataDir, 'spool')));
  return findings;
}

function notAFolder(file: string): Finding {
  const fix = 'move the file away, or set OPENPIT_DATA_DIR to another folder';
  return problem('disk.folder', `${file} is not a folder`, fix);
}

/** The nearest folder that exists: where a missing one will be created. */
function nearestExisting(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearestExisting(dirname(folder));
}

function checkRoom(folder: string): Finding[] {
  const { bsize, blocks, bavail, files, ffree } = statfsSync(folder);
  const [free, total] = [bavail * bsize, blocks * bsize];
  const text = `${folder} has ${inGb(free)} of ${inGb(total)} free`;
  const fix = 'free up space, or move the data folder to a larger disk';
  if (files > 0 && ffree < files * INODES_SHARE_MIN) {
    const few = `the file system of ${folder} has ${ffree} of ${files} inodes free for new files`;
    return [
      problem(
        'disk.inodes',
        few,
        'delete files that are not needed (df -i), or move the data folder to another file system',
      ),
    ];
  }
  if (!hasDiskSpace(folder)) return [problem('disk.room', `${text}: no prices are accepted`, fix)];
  if (free < Math.min(FREE_BYTES_MIN, total / 2) || free < total * FREE_SHARE_MIN)
    return [warning('disk.room', text, fix)];
  return [ok('disk.room', text)];
}

/** SQLite's shared memory and locks do not work over a network. */
function fileSystemOfLedger(folder: string): Finding[] {
  if (!existsSync(folder) || !NETWORK_TYPES.has(statfsSync(folder).type)) return [];
  const text = `the SQLite ledger in ${folder} is on a network file system, which will corrupt it`;
  return [problem('disk.network', text, 'move it to a local disk, or to PostgreSQL: openpit move')];
}

/** An in-memory file system loses counts and ledger when the machine restarts. */
function fileSystemOfSpool(folder: string): Finding[] {
  const existing = nearestExisting(folder);
  if (!MEMORY_TYPES.has(statfsSync(existing).type)) return [];
  const text = `the data folder ${folder} is in memory and is lost when the machine restarts`;
  return [warning('disk.memory', text, 'set OPENPIT_DATA_DIR to a folder on a disk')];
}

/** The ledger holds customers' names and secrets. */
function checkModes(config: Config): Finding[] {
  const path = ledgerPath(config);
  const own = path === undefined ? [] : [path, `${path}-wal`, `${path}-shm`];
  const spool = join(config.dataDir, 'spool');
  const spoolFiles = existsSync(spool) ? readdirSync(spool).map((name) => join(spool, name)) : [];
  const files = [...own, ...spoolFiles, join(config.dataDir, 'demo-key')].flatMap((file) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats ? { file, stats } : [];
  });
  const exposed = files.filter(({ stats }) => (stats.mode & 0o077) !== 0).map(({ file }) => file);
  // A command that was run as root leaves files that the service cannot write.
  const owner = statSync(config.dataDir, { throwIfNoEntry: false })?.uid;
  const foreign = files
    .filter(({ stats }) => owner !== undefined && stats.uid !== owner)
    .map(({ file }) => file);
  const findings: Finding[] = [];
  if (exposed.length > 0) {
    const text = `other users can read ${someOf(exposed)}`;
    findings.push(warning('disk.modes', text, `chmod 600 ${exposed.join(' ')}`));
  }
  if (foreign.length > 0) {
    const text = `${someOf(foreign)} do not belong to the owner of the data folder, so the service may be unable to write them`;
    findings.push(problem('disk.owner', text, `chown --reference=${config.dataDir} ${foreign.join(' ')}`));
  }
  if (findings.length === 0 && files.length > 0)
    findings.push(ok('disk.modes', 'only their owner can read the ledger and the spool'));
  return findings;
}

function checkSpool(spool: string): Finding[] {
  if (!existsSync(spool)) return [];
  try {
    const damaged = readdirSync(spool).filter((name) => name.endsWith('.damaged'));
    if (damaged.length > 0) {
      const text = `the spool has damaged files: ${someOf(damaged)}`;
      return [
        warning(
          'disk.spool',
          text,
          'check the disk, then delete the files; the ledger accounts for their counts',
        ),
      ];
    }
    if (isInUse(spool)) return [ok('disk.spool', 'the spool is in use by a running service')];
    const leases = countUnsettled(spool);
    if (leases === 0) return [ok('disk.spool', 'the ledger has all counts of the spool')];
    const text = `the spool holds counts of ${plural(leases, 'lease')} that are not in the ledger`;
    return [
      warning('disk.spool', text, 'start the service with this data folder; it reports them to the ledger'),
    ];
  } catch (error) {
    const fix = 'run openpit doctor as the user of the service, or with a newer openpit';
    return [problem('disk.spool', `the spool cannot be read: ${messageOf(error)}`, fix)];
  }
}

function inGb(bytes: number): string {
  return bytes < GB ? `${Math.round(bytes / 1024 ** 2)} MB` : `${(bytes / GB).toFixed(1)} GB`;
}
