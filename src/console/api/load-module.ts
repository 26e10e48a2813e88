import { OpenpitError } from '../../../client/src/index.ts';
import { ask } from './client.ts';

/** How long after a failure to try again. */
const RETRY_MS = 3_000;

const WAITING =
  'It may be restarting, or the network may be down. This page loads again as soon as the service responds.';

/**
 * Loads a part of the page that is not in its first file. A browser never repeats a failed import, so after an outage the page is
 * loaded again, once the service is back. Its URL holds the view.
 */
export async function loadModule<T>(
  load: () => Promise<T>,
  onOutage: (error: Error) => void = () => {},
): Promise<T> {
  try {
    return await load();
  } catch {
    onOutage(new OpenpitError(WAITING, { code: 'connection_lost', status: 0 }));
    await untilServiceIsUp();
    location.reload();
    return new Promise(() => {});
  }
}

/** Resolves once the service is ready. */
export async function untilServiceIsUp(): Promise<void> {
  while (!(await isServiceUp())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

function isServiceUp(): Promise<boolean> {
  return ask('/health').then(
    () => true,
    () => false,
  );
}
