import { ConfigError } from './values.ts';

/** A path under which the API is served, and the version of the interface that it speaks. */
export interface Mount {
  /** Empty for the root. */
  readonly path: string;
  readonly dialect: (typeof DIALECTS)[number];
}

const DIALECTS = ['v1', 'v2', 'v3'] as const;

const PATH = /^\/([A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*)?$/;

/** Reads paths such as `/v2` and `/v1.0/commodity=v2`. Without a version, the last part of the path says it, or it is v1. */
export function readMounts(entries: readonly string[]): readonly Mount[] {
  if (entries.length === 0)
    throw new ConfigError('OPENPIT_MOUNTS must name at least one path, for example /.');
  const mounts = entries.map(readMount);
  const twice = mounts.find(({ path }, i) => mounts.findIndex((one) => one.path === path) < i);
  if (twice) throw new ConfigError(`OPENPIT_MOUNTS names the path ${twice.path || '/'} twice.`);
  return mounts;
}

function readMount(entry: string): Mount {
  const [path = '', version, ...more] = entry.split('=').map((part) => part.trim());
  const name = version ?? path.slice(path.lastIndexOf('/') + 1);
  const dialect = DIALECTS.find((one) => one === name.toLowerCase());
  if (!PATH.test(path) || more.length > 0) {
    throw new ConfigError(`OPENPIT_MOUNTS must be paths such as /,/v1 ("${entry}" is not one).`);
  }
  if (version !== undefined && !dialect) {
    throw new ConfigError(
      `OPENPIT_MOUNTS must assign one of the versions ${DIALECTS.join(', ')} to a path, for example /v1.0/commodity=v2 ("${entry}" does not).`,
    );
  }
  return { path: path === '/' ? '' : path, dialect: dialect ?? 'v1' };
}
