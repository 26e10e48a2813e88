import { type ImportRequest, UploadRefused } from '../../api/admin/service/operator-jobs.ts';
import { requireTable } from '../../feeds/import/table.ts';
import { messageOf } from '../../runtime/log/log.ts';

/** Larger files are read only in the thread: looking for a header must not delay other requests. */
const CHECKED_BYTES_MAX = 16_384;

/**
 * Refuses a small file that is not a table of prices before a thread starts for it: a thread loads its modules and opens the
 * ledger, which takes 0.2 s or longer.
 */
export async function refuseIfNoTable({ bytes, columns }: ImportRequest): Promise<void> {
  if (bytes.length > CHECKED_BYTES_MAX) return;
  await requireTable(bytes, columns).catch((error: unknown) => {
    throw uploadRefused(messageOf(error));
  });
}

export function uploadRefused(message: string): UploadRefused {
  return new UploadRefused(withParameterNames(message).replace(/\.$/, ''));
}

/** Messages about a file name options of the command, such as `--date-order`; here they are parameters. */
export function withParameterNames(message: string): string {
  return message.replace(/--([a-z]+(?:-[a-z]+)*)/g, (_, option: string) =>
    option.replace(/-([a-z])/g, (__, letter: string) => letter.toUpperCase()),
  );
}
