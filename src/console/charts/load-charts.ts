/** How long after a failure to try again. */
const RETRY_MS = 3_000;

type Charts = typeof import('lightweight-charts');

/**
 * Loads the chart library. A browser never repeats a failed import, so after an outage the page is loaded again, once the service
 * is back. Its URL holds the view.
 */
export async function loadCharts(): Promise<Charts> {
  try {
    return await import('lightweight-charts');
  } catch {
    while (!(await isServiceUp())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    location.reload();
    return new Promise(() => {});
  }
}

function isServiceUp(): Promise<boolean> {
  return fetch('/health').then(
    ({ ok }) => ok,
    () => false,
  );
}
