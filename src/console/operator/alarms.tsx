import { askAsOperator } from '../api/client.ts';
import { useLoad, useRefresh } from '../api/load.ts';
import type { Alarm, AlarmsAnswer } from '../api/operator.ts';
import { ago, moment } from '../show/format.ts';
import { Notice } from '../show/parts.tsx';

/** What each kind of alarm means for the service, and what to do. See docs/operating.md. */
const MEANINGS: Readonly<Record<string, { title: string; effect: string }>> = {
  'ledger.unreachable': {
    title: 'The ledger cannot be reached',
    effect:
      'Requests are answered from memory while quota leases last, then with 503. Check the database and the network.',
  },
  'ledger.corrupt': {
    title: 'The ledger is damaged',
    effect:
      'Data in memory is served; other requests get 503. Check the disk, and restore a backup if the damage persists.',
  },
  'feeds.failing': {
    title: 'The feeds have stopped',
    effect: 'Existing prices are served, but no new ones arrive.',
  },
  'follower.failing': {
    title: 'A process does not follow the ledger',
    effect: 'It serves the prices, plans and keys that it read last.',
  },
  'feed.late': {
    title: 'A feed is late',
    effect: 'It has missed its schedule twice. Its prices are served, marked as stale.',
  },
  'feed.series_late': {
    title: 'Some series of a feed fail',
    effect: 'Prices of their symbols are served, marked as stale.',
  },
  'tls.renewal_failed': {
    title: 'The renewed certificate cannot be used',
    effect: 'HTTPS still uses the previous one. Check the files of OPENPIT_TLS_CERT and OPENPIT_TLS_KEY.',
  },
  'tls.expires_soon': {
    title: 'The certificate expires soon',
    effect: 'Its renewal has probably failed. Renewed files are loaded without a restart.',
  },
  'tls.expired': {
    title: 'The certificate has expired',
    effect: 'Clients refuse the connection. Renew it; a restart is not needed.',
  },
  'tls.not_yet_valid': {
    title: 'The certificate is not valid yet',
    effect: 'Clients refuse the connection. Check the clock of this machine, and the certificate.',
  },
  'disk.full': {
    title: 'The disk is nearly full',
    effect: 'Requests are answered and counted, but new prices are rejected until it has space.',
  },
  'disk.inodes': {
    title: 'The disk can hold hardly any new files',
    effect: 'It has space, but no inodes: downloads, backups, new customers and the next start can fail.',
  },
};

/** Active alarms of all processes. Loaded separately, because it does not need the ledger as the rest of the page does. */
export function Alarms({ token, everyMs }: { token: string; everyMs: number }) {
  const loaded = useLoad(() => askAsOperator<AlarmsAnswer>(token, '/admin/alarms'), [token]);
  useRefresh(loaded.refresh, everyMs);
  if (!loaded.data || loaded.state === 'failed') return null; // the page says why
  const { alarms, complete } = loaded.data;
  return (
    <section class={alarms.length === 0 ? 'alarms none' : 'alarms'} aria-labelledby="alarms-title">
      <h2 id="alarms-title" class={alarms.length === 0 ? 'visually-hidden' : ''}>
        {alarms.length === 0 ? 'No alarms' : `Alarms: ${alarms.length}`}
      </h2>
      {alarms.map((alarm) => (
        <OneAlarm key={alarm.name} alarm={alarm} />
      ))}
      {alarms.length === 0 && <p class="hint">No alarms.</p>}
      {!complete && <p class="hint">Alarms of other replicas cannot be read without the ledger.</p>}
    </section>
  );
}

function OneAlarm({ alarm: { name, type, since, details, processes } }: { alarm: Alarm }) {
  const { title, effect } = MEANINGS[type] ?? { title: name, effect: '' };
  const about = details.feed === undefined ? '' : `: ${details.feed}`;
  const facts = Object.entries(details).filter(
    ([key]) => !['feed', 'since', 'lateSince', 'process'].includes(key),
  );
  return (
    <Notice kind="error" title={`${title}${about}`}>
      <p>{effect}</p>
      <dl class="alarm-facts">
        <Fact name="Alarm" value={name} />
        {since !== null && <Fact name="Since" value={`${moment(since)} (${ago(since)})`} />}
        {facts.map(([key, value]) => (
          <Fact key={key} name={inWords(key)} value={textOf(value)} />
        ))}
        <Fact name={processes.length === 1 ? 'Process' : 'Processes'} value={processes.join(', ')} />
      </dl>
    </Notice>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function textOf(value: string | number): string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(value) ? moment(value) : String(value);
}

/** `lastOkAt` as "Last ok at". */
function inWords(key: string): string {
  const words = key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
