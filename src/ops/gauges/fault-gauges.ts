import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { ActiveAlarm } from '../alarms.ts';
import type { Faults } from '../faults.ts';

/** Readiness and active alarms. */
export function faultGauges(
  isReady: () => boolean,
  faults: Faults,
  alarms: () => readonly ActiveAlarm[],
): Gauge[] {
  return [
    {
      name: 'openpit_ready',
      help: '1 when requests are answered; the same as /health.',
      value: () => Number(isReady()),
    },
    {
      name: 'openpit_ledger_reachable',
      help: '1 when the ledger answers and takes counts.',
      value: () => Number(faults.ledger.outage === undefined),
    },
    {
      name: 'openpit_alarm',
      help: '1 for each active alarm.',
      value: () => new Map(alarms().map(({ name }) => [`alarm="${name}"`, 1])),
    },
  ];
}
