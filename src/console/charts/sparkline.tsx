import { memo } from 'preact/compat';

const WIDTH = 96;
const HEIGHT = 26;
const INSET = 2;

/** The last weeks as a line. It repeats the numbers next to it, so it is hidden from screen readers. */
export const Sparkline = memo(function Sparkline({ values, trend }: { values: string; trend: string }) {
  const numbers = values === '' ? [] : values.split(' ').map(Number);
  if (numbers.length < 2) return <span class="sparkline-none" />;
  const points = place(numbers);
  const line = points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  const area = `${line}L${WIDTH - INSET} ${HEIGHT}L${INSET} ${HEIGHT}Z`;
  const [lastX, lastY] = points.at(-1)!;
  return (
    <svg
      class={`sparkline ${trend}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden="true"
    >
      <path class="sparkline-area" d={area} />
      <path class="sparkline-line" d={line} />
      <circle cx={lastX} cy={lastY} r="1.8" />
    </svg>
  );
});

function place(values: readonly number[]): [number, number][] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const step = (WIDTH - 2 * INSET) / (values.length - 1);
  const scale = high === low ? 0 : (HEIGHT - 4 * INSET) / (high - low);
  return values.map((value, i) => [
    INSET + i * step,
    high === low ? HEIGHT / 2 : HEIGHT - 2 * INSET - (value - low) * scale,
  ]);
}
