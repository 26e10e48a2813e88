/** The value of a sample, given as `name` or `name{labels}`. NaN when it is missing. */
export function sample(page: string, written: string): number {
  const line = page.split('\n').find((one) => one.startsWith(`${written} `));
  return line === undefined ? Number.NaN : Number(line.slice(written.length + 1));
}

const PROMTOOL = Bun.which('promtool');
export const hasPromtool = PROMTOOL !== null;
if (!hasPromtool) console.warn('promtool is not installed: what Prometheus reads is checked less strictly.');

/** Runs promtool. Returns its exit code and output. */
export async function promtool(args: readonly string[], input = ''): Promise<[number, string]> {
  const child = Bun.spawn([PROMTOOL!, ...args], {
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return [await child.exited, stdout + stderr];
}
