import { expect, test } from 'bun:test';
import { mergeMetrics } from './merge-metrics.ts';

test('each metric is described once, and every sample is labelled with its process', () => {
  const page = (ready: number, count: number) =>
    `# HELP ready 1 when ready.\n# TYPE ready gauge\nready ${ready}\n# HELP s Time.\n# TYPE s histogram\ns_bucket{le="+Inf"} ${count}\ns_sum 1 \n`;
  expect(
    mergeMetrics([
      { process: 0, text: page(1, 5) },
      { process: 2, text: page(0, 7) },
    ]),
  ).toBe(`# HELP ready 1 when ready.
# TYPE ready gauge
ready{process="0"} 1
ready{process="2"} 0
# HELP s Time.
# TYPE s histogram
s_bucket{process="0",le="+Inf"} 5
s_sum{process="0"} 1 
s_bucket{process="2",le="+Inf"} 7
s_sum{process="2"} 1 
`);
});

test('a metric of only one process is kept, and a label may contain braces and spaces', () => {
  const text = '# HELP a A.\n# TYPE a gauge\na{b="{ } x"} 1\n';
  const merged = mergeMetrics([
    { process: 0, text: '# HELP c C.\n# TYPE c gauge\nc 1\n' },
    { process: 1, text },
  ]);
  expect(merged).toContain('a{process="1",b="{ } x"} 1\n');
  expect(merged).toContain('c{process="0"} 1\n');
});
