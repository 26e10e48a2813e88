import type { Config } from '../../config.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log/log.ts';

/** What every step of opening the core is given. A step registers what it opens with `opened`, which closes it again. */
export interface CoreSetup {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly opened: AsyncDisposableStack;
}
