import { useState } from 'preact/hooks';
import { useWidth } from '../../charts/use-width.ts';

/** One line of a chart. */
export interface TimeLine {
  name: string;
  /** The class that colours it. */
  colour: 'accent' | 'gold' | 'fall';
  /** By point in time; null where nothing is known. */
  values: readonly (number | null)[];
}

const HEIGHT = 150;
const LEFT = 56;
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 20;

/** Lines over time, with the values under the pointer in the legend. */
export function TimeChart({
  title,
  times,
  lines,
  print,
  topMin,
}: {
  title: string;
  /** ISO times, ascending. */
  times: readonly string[];
  lines: readonly TimeLine[];
  print: (value: number) => string;
  /** The top of the axis where all values are lower. */
  topMin: number;
}) {
  const [pointed, setPointed] = useState<number>();
  const [figure, chartWidth] = useWidth<HTMLElement>(560);
  const values = lines.flatMap((line) => line.values.map((value) => value ?? 0));
  const top = niceTop(Math.max(topMin, ...values));
  const x = (i: number) => LEFT + ((chartWidth - LEFT - RIGHT) * i) / Math.max(1, times.length - 1);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const shown = pointed ?? times.length - 1;
  const point = (event: PointerEvent & { currentTarget: SVGSVGElement }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - left) / width) * chartWidth;
    const i = Math.round(((at - LEFT) / (chartWidth - LEFT - RIGHT)) * (times.length - 1));
    setPointed(Math.min(Math.max(i, 0), times.length - 1));
  };
  return (
    <figure class="time-chart" ref={figure}>
      <figcaption>
        <strong>{title}</strong>
        <span class="muted">{clock(times[shown])}</span>
        <ul>
          {lines.map(({ name, colour, values: own }) => (
            <li key={name} class={`line-${colour}`}>
              <i /> {name} <b>{text(own[shown], print)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <svg
        viewBox={`0 0 ${chartWidth} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: ${lines.map((line) => summary(line, print)).join('; ')}`}
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={chartWidth - RIGHT} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
              {print(value)}
            </text>
          </g>
        ))}
        {labels(times).map((i) => (
          <text key={i} x={x(i)} y={HEIGHT - 4} text-anchor="middle">
            {clock(times[i])}
          </text>
        ))}
        {lines.map(({ name, colour, values: own }) => (
          <g key={name} class={`line-${colour}`}>
            <path d={pathOf(own, x, y)} />
            {own.map(
              (value, i) => value !== null && isAlone(own, i) && <circle cx={x(i)} cy={y(value)} r="2.5" />,
            )}
          </g>
        ))}
        {pointed !== undefined && <line class="pointer" x1={x(pointed)} x2={x(pointed)} y1={TOP} y2={y(0)} />}
      </svg>
    </figure>
  );
}

function text(value: number | null | undefined, print: (value: number) => string): string {
  return value === null || value === undefined ? '—' : print(value);
}

function summary({ name, values }: TimeLine, print: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? `${name} none` : `${name} at most ${print(Math.max(...known))}`;
}

/** Whether no line leads to a point. */
function isAlone(values: readonly (number | null)[], i: number): boolean {
  return (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null;
}

/** Leaves gaps where values are missing. */
function pathOf(
  values: readonly (number | null)[],
  x: (i: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let isDrawing = false;
  for (const [i, value] of values.entries()) {
    if (value !== null) path += `${isDrawing ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = value !== null;
  }
  return path;
}

const LABELS = 4;

/** Evenly spaced points that get a label; not the last one, whose label would not fit. */
function labels(times: readonly string[]): number[] {
  const step = Math.max(1, Math.round(times.length / LABELS));
  return Array.from({ length: Math.min(LABELS, times.length) }, (_, i) => i * step);
}

/** Hours and minutes of the reader's clock. */
function clock(at: string | undefined): string {
  if (at === undefined) return '';
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** The next of 0.2, 0.4, 1, 2, 4, 10, … */
function niceTop(value: number): number {
  for (let power = 0.001; ; power *= 10) {
    for (const step of [2, 4, 10]) if (step * power >= value) return Number((step * power).toPrecision(2));
  }
}
