import { useState } from 'preact/hooks';
import { linkTo } from '../data/route.ts';
import { Accounts } from './customers/accounts.tsx';
import { Plans } from './customers/plans.tsx';
import { Feeds } from './feeds/feeds.tsx';
import { Quarantine } from './feeds/quarantine.tsx';
import { Bars } from './prices/bars.tsx';
import { useSimulatedOnly } from './prices/first-real-price.tsx';
import { Formulas } from './prices/formulas.tsx';
import { Imports } from './prices/imports.tsx';
import { Symbols } from './prices/symbols.tsx';
import { Upload } from './prices/upload.tsx';
import { Audit } from './service/audit.tsx';
import { Maintenance } from './service/maintenance.tsx';
import { Traffic } from './service/traffic.tsx';

/** The parts of the operator page, by the word in its address. */
const SECTIONS = [
  ['', 'Overview'],
  ['feeds', 'Feeds'],
  ['prices', 'Prices'],
  ['customers', 'Customers'],
  ['audit', 'Audit log'],
  ['maintenance', 'Maintenance'],
] as const;

export function SectionLinks({ current }: { current: string }) {
  return (
    <nav class="tabs" aria-label="Parts of the operator page">
      {SECTIONS.map(([name, label]) => (
        <a key={name} href={linkTo('operator', name)} aria-current={name === current ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

/** What a part shows besides the alarms; the overview also has the replicas. */
export function Section({ name, token, isDemo }: { name: string; token: string; isDemo: boolean }) {
  switch (name) {
    case '':
      return <Traffic token={token} />;
    case 'feeds':
      return (
        <>
          <Feeds token={token} />
          <Quarantine token={token} />
        </>
      );
    case 'prices':
      return <Prices token={token} isDemo={isDemo} />;
    case 'customers':
      return (
        <>
          <Accounts token={token} />
          <Plans token={token} />
        </>
      );
    case 'audit':
      return <Audit token={token} />;
    case 'maintenance':
      return <Maintenance token={token} />;
    default:
      return <p>There is no such part of the page.</p>;
  }
}

function Prices({ token, isDemo }: { token: string; isDemo: boolean }) {
  const [changes, setChanges] = useState(0);
  const { simulated, refresh } = useSimulatedOnly(token, isDemo);
  const onUpload = () => {
    setChanges((before) => before + 1);
    refresh();
  };
  return (
    <>
      <Upload token={token} simulated={simulated} onChange={onUpload} />
      <Imports token={token} changes={changes} onUndo={refresh} />
      <Bars token={token} simulated={simulated} onChange={refresh} />
      <Symbols token={token} />
      <Formulas token={token} />
    </>
  );
}
