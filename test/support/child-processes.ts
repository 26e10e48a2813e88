/** The ids of the processes that a process has started. */
export function childrenOf(pid: number): number[] {
  const { stdout } = Bun.spawnSync(['pgrep', '-P', String(pid)]);
  return stdout.toString().trim().split('\n').filter(Boolean).map(Number);
}
