import { hostname } from 'node:os';
import type { Ledger } from '../../ledger/ledger.ts';
import { type ReplicaRow, SILENT_MS } from '../../ledger/operations/replicas.ts';
import { VERSION } from '../../runtime/version.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The process ids of the service on this machine. */
export async function localProcesses(ledger: Ledger): Promise<number[]> {
  const { now, replicas } = await ledger.replicas.list();
  const names = replicas.filter(({ seen }) => now - seen <= SILENT_MS).map(({ name }) => name);
  const own = `${hostname()}/`;
  return names.filter((name) => name.startsWith(own)).map((name) => Number(name.slice(own.length)));
}

/** Alarms, versions and liveness, as the running processes report them. */
export async function checkProcesses(ledger: Ledger): Promise<Finding[]> {
  const { now, replicas } = await ledger.replicas.list();
  const live = replicas.filter(({ seen }) => now - seen <= SILENT_MS);
  const silent = replicas.filter(({ seen }) => now - seen > SILENT_MS);
  const findings: Finding[] = [...alarms(live), ...versions(live)];
  for (const { name, seen } of silent) {
    const text = `the process ${name} died or lost the ledger; last seen ${new Date(seen).toISOString()}`;
    findings.push(warning('processes.silent', text, 'see its log; the entry disappears after a day'));
  }
  const names = live.map(({ name, phase }) => `${name} (${phase})`).join(', ');
  const text =
    live.length === 0 ? 'no process is running on this ledger' : `${live.length} running: ${names}`;
  return [ok('processes.live', text), ...findings];
}

function alarms(live: readonly ReplicaRow[]): Finding[] {
  const all = live.flatMap(({ name: process, alarms }) => alarms.map((alarm) => ({ process, ...alarm })));
  return [...Map.groupBy(all, ({ name }) => name)].map(([name, same]) => {
    const { type: _, ...details } = same[0]!.event;
    const about = Object.entries(details).map(([key, value]) => `${key} ${value}`);
    const text = `alarm ${name} in ${same.map(({ process }) => process).join(', ')}: ${about.join(', ')}`;
    return problem('processes.alarm', text, 'see "Alarms" in docs/operating.md');
  });
}

function versions(live: readonly ReplicaRow[]): Finding[] {
  const others = [...new Set(live.map(({ version }) => version))].filter((version) => version !== VERSION);
  if (others.length === 0) return [];
  const text = `this program is ${VERSION}, but processes of ${others.join(', ')} are running`;
  return [warning('processes.version', text, 'finish the upgrade: restart all processes with one version')];
}
