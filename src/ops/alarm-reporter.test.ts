import { expect, test } from 'bun:test';
import { createLog } from '../runtime/log/log.ts';
import { AlarmReporter } from './alarm-reporter.ts';
import type { ActiveAlarm } from './alarms.ts';

const HOUR = 3_600_000;

test('an alarm is over five seconds after its end, also if the clock is set back or forward meanwhile', () => {
  const alarm: ActiveAlarm = { name: 'disk.full', event: { type: 'disk.full' } };
  let [wall, elapsed] = [1_700_000_000_000, 0];
  const clock = { now: () => wall, elapsed: () => elapsed };
  let current = [alarm];
  const events: string[] = [];
  const log = createLog('info', clock, (line) => events.push(JSON.parse(line).event));
  const reporter = new AlarmReporter({ current: () => current, clock, log, poster: undefined });
  const pass = (ms: number) => {
    [wall, elapsed] = [wall + ms, elapsed + ms];
    reporter.run();
  };
  for (const step of [-HOUR, HOUR]) {
    events.length = 0;
    current = [alarm];
    pass(1_000);
    current = [];
    pass(1_000);
    wall += step;
    pass(4_000);
    expect(events).toEqual(['alarm']);
    pass(1_000);
    expect(events).toEqual(['alarm', 'alarm is over']);
  }
});
