/** The request heads of a file of recorded requests (see `Recorded` in load.ts). */
export async function recordedHeads(file: string): Promise<string[]> {
  const lines = (await Bun.file(file).text()).trimEnd().split('\n');
  return lines.map((line) => {
    const [path, key] = line.split('\t');
    return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${key ? `x-api-key: ${key}\r\n` : ''}\r\n`;
  });
}

/** Writes a file of recorded requests. */
export async function record(
  file: string,
  requests: readonly { path: string; key?: string }[],
): Promise<{ file: string; count: number }> {
  const lines = requests.map(({ path, key }) => (key === undefined ? path : `${path}\t${key}`));
  await Bun.write(file, `${lines.join('\n')}\n`);
  return { file, count: lines.length };
}
