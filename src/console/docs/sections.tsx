import { Example } from './example.tsx';
import { ClosedDays, Delay } from './pictures.tsx';

/** The sections of the documentation, in order. */
export const SECTIONS = [
  { id: 'start', title: 'Quick start', Content: Start },
  { id: 'quote', title: 'Currencies: quote', Content: Quote },
  { id: 'unit', title: 'Units: unit', Content: Unit },
  { id: 'as-of', title: 'The past as it was known: asOf', Content: AsOf },
  { id: 'revisions', title: 'Revisions', Content: Revisions },
  { id: 'pages', title: 'Long tables and pages', Content: Pages },
  { id: 'streams', title: 'Live prices: streams', Content: Streams },
  { id: 'closed-days', title: 'A closed day', Content: ClosedDays },
  { id: 'delay', title: 'What a delayed plan sees', Content: Delay },
  { id: 'cost', title: 'What costs a unit', Content: Cost },
] as const;

function Start() {
  return (
    <>
      <Example title="All symbols" path="/symbols" />
      <Example title="The latest rates" path="/rates/latest?symbols=XAU,WTIOIL-FUT" />
      <Example title="One day" path="/rates/historical?symbols=XAU&date=2024-03-29" />
      <Example
        title="A range of up to 30 days"
        path="/rates/time-series?symbols=XAU&startDate=2024-03-01&endDate=2024-03-29"
      />
      <Example
        title="The change between two days"
        path="/rates/fluctuation?symbols=XAU&startDate=2024-01-01&endDate=2024-03-29"
      />
    </>
  );
}

function Quote() {
  return (
    <>
      <p>
        Every symbol has a currency of its own, which <code>metadata</code> names as <code>quote</code>.{' '}
        <code>quote=EUR</code> converts every number in the response at the exchange rate of its own day, as
        the European Central Bank published it. A day without a rate uses the last one before it.
      </p>
      <Example title="Gold in euros" path="/rates/latest?symbols=XAU&quote=EUR" />
    </>
  );
}

function Unit() {
  return (
    <>
      <p>
        <code>unit=kg</code> converts between units of the same kind: weights, volumes, energy. A unit that
        does not fit is an error that lists those that do; <code>/units</code> lists them for every symbol.
      </p>
      <Example title="Gold per kilogram" path="/rates/latest?symbols=XAU&unit=kg" />
    </>
  );
}

function AsOf() {
  return (
    <>
      <p>
        Prices get corrected. <code>asOf</code> returns what the service knew at a past moment: nothing
        recorded later is visible. Send a time, or a day, which means its end in UTC. Such a request reads the
        ledger and costs one unit whatever its outcome.
      </p>
      <Example
        title="A day as it was known the next morning"
        path="/rates/historical?symbols=XAU&date=2024-03-28&asOf=2024-03-29T08:00:00Z"
      />
    </>
  );
}

function Revisions() {
  return (
    <>
      <p>
        A correction never overwrites: every version of a day is kept, with its source, the time it was
        recorded and the reason. A withdrawal is also a version.
      </p>
      <Example title="All versions of one day" path="/rates/revisions?symbols=XAU&date=2024-03-28" />
    </>
  );
}

function Pages() {
  return (
    <>
      <p>
        <code>/rates/history</code> has decades of prices by day, week, month, quarter or year. A page of JSON
        is limited; <code>next</code> is then the cursor of the next page: send it as <code>cursor</code> with
        all other parameters unchanged. The <code>Link</code> header has the same URL. <code>format=csv</code>{' '}
        and <code>format=ndjson</code> are always complete.
      </p>
      <Example
        title="Years of prices by month, as CSV for a spreadsheet"
        path="/rates/history?symbols=XAU&startDate=2016-01-01&endDate=2025-12-31&interval=month&format=csv"
      />
    </>
  );
}

function Streams() {
  return (
    <>
      <p>
        A stream consists of server-sent events: the current prices first, then each change when your plan may
        see it. A connection costs one unit, and so does every hundred events after its first hundred. A
        client that reconnects with <code>Last-Event-ID</code> continues where it stopped.
      </p>
      <Example title="Prices as they change" path="/rates/stream?symbols=XAU,XAG" />
    </>
  );
}

function Cost() {
  return (
    <p>
      One unit for each successful response with prices or symbols. Errors, <code>304</code>,{' '}
      <code>HEAD</code>, the usage and this page are free. Only a request that has to read the ledger (
      <code>asOf</code>, <code>/rates/revisions</code>) or that has a formula costs one unit whatever its
      outcome.
    </p>
  );
}
