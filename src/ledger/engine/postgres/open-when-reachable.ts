import { messageOf } from '../../../runtime/log/log.ts';
import { outageReason, Unavailable } from '../errors.ts';

export interface WaitOptions {
  /** How long to wait before giving up. */
  waitMs: number;
  /** Called every five seconds with the reason and how long the wait has lasted. */
  onWaiting(reason: string, waitedMs: number): void;
  /** Milliseconds of a monotonic clock. */
  elapsed?(): number;
  sleep?(ms: number): Promise<void>;
}

const RETRY_MS = 1_000;
const REPORT_MS = 5_000;

/**
 * Opens a database that may not be up yet, as after a reboot or when containers start together. Retries while the database
 * cannot be reached or says that it is starting; any other error, such as a wrong password, is thrown at once.
 */
export async function openWhenReachable<T>(open: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { waitMs, onWaiting, elapsed = () => performance.now(), sleep = Bun.sleep } = options;
  const start = elapsed();
  let reports = 0;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (outageReason(error) === undefined) throw error;
      const reason = messageOf(error);
      const waitedMs = elapsed() - start;
      if (waitedMs >= waitMs) {
        throw new Unavailable(
          `PostgreSQL could not be reached for ${Math.round(waitMs / 1_000)} s: ${reason}`,
          { cause: error },
        );
      }
      if (waitedMs >= reports * REPORT_MS) {
        reports = Math.floor(waitedMs / REPORT_MS) + 1;
        onWaiting(reason, waitedMs);
      }
      await sleep(Math.min(RETRY_MS, waitMs - waitedMs));
    }
  }
}
