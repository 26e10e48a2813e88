/** The two rules that surprise people, drawn. 360 wide, so that their words can be read on a phone. */

const DAYS = [
  ['Wed', '27', true],
  ['Thu', '28', true],
  ['Fri', '29', false],
  ['Sat', '30', false],
  ['Sun', '31', false],
  ['Mon', '1', true],
] as const;

const DAY_WIDTH = 58;
const DAY_LEFT = 8;

export function ClosedDays() {
  const middle = (index: number) => DAY_LEFT + index * DAY_WIDTH + (DAY_WIDTH - 8) / 2;
  return (
    <figure class="picture">
      <svg
        viewBox="0 0 360 128"
        role="img"
        aria-label="A question about Good Friday is answered with the bar of the Thursday before"
      >
        <text class="asked" x={middle(2)} y="14" text-anchor="middle">
          date=2024-03-29
        </text>
        <path
          class="arrow"
          d={`M ${middle(2)} 20 V 30 Q ${middle(2)} 38, ${middle(2) - 10} 38 H ${middle(1) + 10} Q ${middle(1)} 38, ${middle(1)} 46 V 52 m -4 -6 l 4 6 l 4 -6`}
        />
        {DAYS.map(([name, date, open], i) => (
          <g key={date}>
            <rect
              class={open ? 'open-day' : 'closed-day'}
              x={DAY_LEFT + i * DAY_WIDTH}
              y="56"
              width={DAY_WIDTH - 8}
              height="44"
              rx="6"
            />
            <text x={middle(i)} y="75" text-anchor="middle">
              {name}
            </text>
            <text x={middle(i)} y="92" text-anchor="middle">
              {date}
            </text>
            <text class="soft" x={middle(i)} y="118" text-anchor="middle">
              {open ? 'open' : 'closed'}
            </text>
          </g>
        ))}
      </svg>
      <figcaption>
        Good Friday is closed: the response has the bar of Thursday the 28th, with its date. A request for one
        day, or for the change between two, falls back to the last bar: at most 14 days, 21 for weekly values
        and 100 for monthly ones. A time series lists only the days that have a bar.
      </figcaption>
    </figure>
  );
}

export function Delay() {
  return (
    <figure class="picture">
      <svg
        viewBox="0 0 360 150"
        role="img"
        aria-label="A delayed plan sees the market as it was some time ago"
      >
        <rect class="hidden-part" x="240" y="10" width="104" height="104" />
        <path
          class="seen-line"
          d="M8 86 L30 76 L52 82 L74 62 L96 68 L118 48 L140 58 L162 44 L184 54 L206 38 L224 50 L240 36"
        />
        <path class="unseen-line" d="M240 36 L262 48 L284 30 L306 42 L344 26" />
        <line class="axis" x1="8" x2="352" y1="114" y2="114" />
        <line class="axis" x1="240" x2="240" y1="10" y2="120" />
        <line class="axis" x1="344" x2="344" y1="10" y2="120" />
        <text x="240" y="137" text-anchor="middle">
          10 min ago
        </text>
        <text x="344" y="137" text-anchor="end">
          now
        </text>
        <text class="soft" x="124" y="106" text-anchor="middle">
          what the plan sees
        </text>
        <text class="soft" x="292" y="106" text-anchor="middle">
          not yet
        </text>
      </svg>
      <figcaption>
        A plan with a delay of ten minutes sees the market as it was ten minutes ago, through every endpoint
        and in the stream. A price becomes visible when it is that old; imported history is visible
        immediately.
      </figcaption>
    </figure>
  );
}
