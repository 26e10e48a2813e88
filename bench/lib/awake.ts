import { availableParallelism } from 'node:os';

/**
 * Keeps every core busy at the lowest priority until this process exits. A virtual machine takes up to tens of milliseconds to wake
 * a core that idled, which would count as a pause of the program under test. Under the idle policy of `chrt` it makes way at once;
 * `nice` keeps the program waiting for the rest of a time slice, up to 3 ms.
 */
export function keepCoresAwake(): void {
  const lowest = Bun.which('chrt') ? ['chrt', '-i', '0'] : ['nice', '-n', '19'];
  if (Bun.which(lowest[0]!) === null) return;
  const spin = `while kill -0 ${process.pid} 2>/dev/null; do i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; done`;
  for (let core = 0; core < availableParallelism(); core++) {
    const child = Bun.spawn([...lowest, 'sh', '-c', spin], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    child.unref();
    process.on('exit', () => child.kill('SIGKILL'));
  }
}
