/** The two rules that surprise people, drawn. */

const DAYS = [
  ['Wed 27', true],
  ['Thu 28', true],
  ['Good Fri 29', false],
  ['Sat 30', false],
  ['Sun 31', false],
  ['Mon 1', true],
] as const;

export function ClosedDays() {
  const width = 112;
  return (
    <figure class="picture">
      <svg
        viewBox="0 0 700 118"
        role="img"
        aria-label="A closed day answers with the last open day before it"
      >
        {DAYS.map(([label, open], i) => (
          <g key={label}>
            <rect
              class={open ? 'open-day' : 'closed-day'}
              x={14 + i * width}
              y="52"
              width={width - 16}
              height="34"
              rx="6"
            />
            <text x={14 + i * width + (width - 16) / 2} y="73" text-anchor="middle">
              {label}
            </text>
            <text class="soft" x={14 + i * width + (width - 16) / 2} y="104" text-anchor="middle">
              {open ? 'open' : 'closed'}
            </text>
          </g>
        ))}
        <path class="arrow" d="M 288 48 C 280 14, 196 14, 178 44 m -1 -9 l 1 10 l 8 -6" />
        <text class="soft" x="300" y="26">
          date=2024-03-29 answers with the bar of the 28th and says so
        </text>
      </svg>
      <figcaption>
        Asking for one day, or for the change between two, looks back to the last bar: at most 14 days, 21 for
        weekly values and 100 for monthly ones. A time series lists only the days that have a bar.
      </figcaption>
    </figure>
  );
}

export function Delay() {
  return (
    <figure class="picture">
      <svg
        viewBox="0 0 700 150"
        role="img"
        aria-label="A delayed plan sees the market as it was some time ago"
      >
        <rect class="hidden-part" x="470" y="14" width="180" height="100" />
        <path
          class="seen-line"
          d="M20 90 L60 78 L100 84 L140 62 L180 70 L220 48 L260 58 L300 44 L340 56 L380 40 L420 52 L470 36"
        />
        <path class="unseen-line" d="M470 36 L510 48 L550 30 L590 42 L650 26" />
        <line class="axis" x1="20" x2="680" y1="114" y2="114" />
        <line class="axis" x1="470" x2="470" y1="14" y2="120" />
        <line class="axis" x1="650" x2="650" y1="14" y2="120" />
        <text x="470" y="136" text-anchor="middle">
          now − 10 min
        </text>
        <text x="650" y="136" text-anchor="middle">
          now
        </text>
        <text class="soft" x="245" y="108" text-anchor="middle">
          what the plan sees, in every answer
        </text>
        <text class="soft" x="560" y="108" text-anchor="middle">
          not yet
        </text>
      </svg>
      <figcaption>
        A plan with a delay of ten minutes sees the market as it was ten minutes ago, through every endpoint
        and in the stream. A price shows when it is that old; history that is imported shows at once.
      </figcaption>
    </figure>
  );
}
