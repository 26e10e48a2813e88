import { askAsOperator } from '../../api/client.ts';
import { useLoad, useRefresh } from '../../api/load.ts';
import { compactCount, count, plural } from '../../show/format.ts';
import { Failure, Loading } from '../../show/parts.tsx';
import { TimeChart } from './time-chart.tsx';

const REFRESH_MS = 10_000;
const MINUTE_MS = 60_000;

interface Minute {
  at: string;
  requests: number;
  refused: number;
  failed: number;
  p50Ms: number | null;
  p99Ms: number | null;
  lagSeconds: number;
}

interface TrafficAnswer {
  processes: number;
  minutes: Minute[];
}

/** Traffic, errors, latency and lag of the last hours. */
export function Traffic({ token }: { token: string }) {
  const loaded = useLoad(() => askAsOperator<TrafficAnswer>(token, '/admin/traffic'), [token]);
  useRefresh(loaded.refresh, REFRESH_MS);
  const minutes = fill(loaded.data?.minutes ?? []);
  const times = minutes.map(({ at }) => at);
  const total = minutes.reduce((sum, { requests }) => sum + requests, 0);
  return (
    <section class="card" aria-labelledby="traffic-title">
      <div class="card-head">
        <h2 id="traffic-title">Traffic</h2>
        {loaded.data && (
          <span class="hint">
            {plural(total, 'request')} in {span(minutes.length)}, over{' '}
            {plural(loaded.data.processes, 'process', 'processes')}; kept in memory since the start
          </span>
        )}
      </div>
      {loaded.state === 'failed' && !loaded.data && <Failure error={loaded.error} onRetry={loaded.reload} />}
      {!loaded.data && loaded.state === 'loading' && (
        <Loading label="Reading the traffic" shape="cards" lines={5} />
      )}
      {loaded.data && (
        <div class="time-charts">
          <TimeChart
            title="Requests a minute"
            times={times}
            print={compactCount}
            topMin={2}
            lines={[{ name: 'requests', colour: 'accent', values: minutes.map((one) => one.requests) }]}
          />
          <TimeChart
            title="Errors a minute"
            times={times}
            print={compactCount}
            topMin={2}
            lines={[
              { name: 'refused (4xx)', colour: 'gold', values: minutes.map((one) => one.refused) },
              { name: 'failed (5xx)', colour: 'fall', values: minutes.map((one) => one.failed) },
            ]}
          />
          <TimeChart
            title="Latency"
            times={times}
            print={milliseconds}
            topMin={2}
            lines={[
              { name: 'median', colour: 'accent', values: minutes.map((one) => one.p50Ms) },
              { name: '99 %', colour: 'gold', values: minutes.map((one) => one.p99Ms) },
            ]}
          />
          <TimeChart
            title="Lag behind the ledger"
            times={times}
            print={seconds}
            topMin={0.002}
            lines={[{ name: 'longest', colour: 'accent', values: minutes.map((one) => one.lagSeconds) }]}
          />
        </div>
      )}
    </section>
  );
}

/** Adds the minutes in which no process ran, and at least a quarter of an hour, so that a new service has an axis. */
function fill(minutes: readonly Minute[]): Minute[] {
  const last = Date.parse(minutes.at(-1)?.at ?? new Date().toISOString());
  const first = Math.min(Date.parse(minutes[0]?.at ?? '') || last, last - 14 * MINUTE_MS);
  const known = new Map(minutes.map((minute) => [Date.parse(minute.at), minute]));
  const filled: Minute[] = [];
  for (let at = first; at <= last; at += MINUTE_MS) {
    const empty = { at: new Date(at).toISOString(), requests: 0, refused: 0, failed: 0, lagSeconds: 0 };
    filled.push(known.get(at) ?? { ...empty, p50Ms: null, p99Ms: null });
  }
  return filled;
}

function span(minutes: number): string {
  return minutes < 90 ? plural(minutes, 'minute') : plural(Math.round(minutes / 60), 'hour');
}

function milliseconds(value: number): string {
  if (value >= 1_000) return seconds(value / 1_000);
  return value < 10 ? `${Number(value.toPrecision(2))} ms` : `${count(value)} ms`;
}

function seconds(value: number): string {
  return value < 1 ? milliseconds(value * 1000) : `${Number(value.toPrecision(2))} s`;
}
