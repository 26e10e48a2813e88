/**
 * Calls `cleanUp` if SIGINT or SIGTERM ends the command before this is disposed. A signal that nobody handles ends a process
 * without its finally blocks.
 */
export function cleanUpOnSignal(cleanUp: () => void): Disposable {
  const onSignal = (_: string, number: number) => {
    cleanUp();
    process.exit(128 + number);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  return {
    [Symbol.dispose]() {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    },
  };
}
