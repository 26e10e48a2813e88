/**
 * `npm run audit`: asks the registry whether a dependency of the program has a known vulnerability, high or critical. Part of
 * `npm test`. An unreachable registry is reported but is not a failure, so that tests also run without a network.
 */
export type Audit =
  | { outcome: 'clean' }
  | { outcome: 'not asked'; why: string }
  | { outcome: 'found'; names: string[] };

const TIMEOUT_MS = 60_000;

export async function audit(): Promise<Audit> {
  const child = Bun.spawn(['npm', 'audit', '--omit=dev', '--audit-level=high', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
  });
  const text = await new Response(child.stdout).text();
  await child.exited;
  return readReport(text);
}

interface Report {
  message?: string;
  vulnerabilities?: Record<string, { severity: string }>;
}

/** Reads the output of `npm audit --json`. */
export function readReport(text: string): Audit {
  let report: Report;
  try {
    report = JSON.parse(text);
  } catch {
    return { outcome: 'not asked', why: 'npm gave no report' };
  }
  if (!report.vulnerabilities) return { outcome: 'not asked', why: report.message ?? 'npm gave no report' };
  const names = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => severity === 'high' || severity === 'critical')
    .map(([name]) => name);
  return names.length > 0 ? { outcome: 'found', names } : { outcome: 'clean' };
}

if (import.meta.main) {
  const result = await audit();
  if (result.outcome === 'found') {
    console.error(`FAILED audit: ${result.names.join(', ')}; see npm audit`);
    process.exit(1);
  }
  console.log(result.outcome === 'clean' ? 'ok     audit' : `not asked: the audit (${result.why})`);
}
