import type { DialectName } from '../versions/dialects.ts';

/** A path prefix under which the API is served, and its dialect. */
export interface MountPoint {
  /** Empty for the root. */
  readonly path: string;
  readonly dialect: DialectName;
}

/** The mount point for examples and for the service's requests to itself: the first that speaks v1, if there is one. */
export function mainMount(mounts: readonly MountPoint[]): string {
  return (mounts.find(({ dialect }) => dialect === 'v1') ?? mounts[0]!).path;
}
