import type { Sample } from './soak.ts';

const PANELS: readonly [title: string, unit: string, of: (sample: Sample) => number][] = [
  ['Heap', 'MB', ({ heapMb }) => heapMb],
  ['Memory (RSS)', 'MB', ({ rssMb }) => rssMb],
  ['File descriptors', '', ({ fds }) => fds],
  ['Event loop lag', 'ms', ({ lagMs }) => lagMs],
  ['Answers per second', '', ({ perSecond }) => perSecond],
];

const [WIDTH, HEIGHT, LEFT, TOP] = [640, 96, 8, 22];

/** All samples as an SVG image, with one panel per measurement. */
export function chart(samples: readonly Sample[]): string {
  const end = samples.at(-1)?.at ?? 1;
  const panels = PANELS.map(([title, unit, of], i) => {
    const values = samples.map(of);
    const most = Math.max(...values, 1e-9);
    const points = samples.map((sample) => {
      const x = LEFT + ((WIDTH - 2 * LEFT) * sample.at) / end;
      const y = TOP + (HEIGHT - TOP - 8) * (1 - of(sample) / most);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    const range = `${short(Math.min(...values))} to ${short(most)} ${unit}`.trim();
    return `<g transform="translate(0 ${i * HEIGHT})">
<text x="${LEFT}" y="14">${title}: ${range}</text>
<path d="M${LEFT} ${HEIGHT - 8}H${WIDTH - LEFT}" stroke="#8886"/>
<polyline points="${points.join(' ')}" fill="none" stroke="#0a7ea4" stroke-width="1.5"/>
</g>`;
  });
  const height = PANELS.length * HEIGHT + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#888">
<title>The program under steady load</title>
${panels.join('\n')}
<text x="${LEFT}" y="${height - 6}">${(end / 60).toFixed(1)} minutes, ${samples.length} samples</text>
</svg>
`;
}

/** The same as text, with one line per measurement. */
export function sparklines(samples: readonly Sample[]): string {
  return PANELS.map(([title, unit, of]) => {
    const values = samples.map(of);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const line = values
      .map((value) => '▁▂▃▄▅▆▇█'[Math.min(7, Math.floor((8 * value) / (most || 1)))])
      .join('');
    return `${title.padEnd(20)} ${line} ${short(least)} to ${short(most)} ${unit}`;
  }).join('\n');
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}
