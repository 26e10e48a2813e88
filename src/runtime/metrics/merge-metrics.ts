/** The metrics of one process, in Prometheus text format. */
export interface ProcessMetrics {
  process: number;
  text: string;
}

/** Merges the metrics of several processes into one page: each metric once, its samples labelled by process. */
export function mergeMetrics(pages: readonly ProcessMetrics[]): string {
  const families = new Map<string, { comments: string[]; samples: string[] }>();
  for (const { process, text } of pages) {
    let samples: string[] = [];
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        const family = families.getOrInsertComputed(name, () => ({ comments: [], samples: [] }));
        samples = family.samples;
        if (family.comments.length === 0) family.comments.push(line, '');
      } else if (line.startsWith('# TYPE ')) {
        families.get(line.split(' ')[2]!)!.comments[1] = line;
      } else if (line !== '') samples.push(withProcess(line, process));
    }
  }
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return `${lines.join('\n')}\n`;
}

/** Takes `name value` or `name{labels} value`. A name has neither braces nor spaces. */
function withProcess(sample: string, process: number): string {
  const end = sample.search(/[{ ]/);
  const rest = sample[end] === '{' ? `,${sample.slice(end + 1)}` : `}${sample.slice(end)}`;
  return `${sample.slice(0, end)}{process="${process}"${rest}`;
}
