/**
 * A sink for lines. Bun's standard streams buffer without limit; only the write callback shows what was
 * consumed.
 */
export interface LineStream {
  write(text: string, onTaken: () => void): unknown;
}

export interface BoundedOutputOptions {
  /** When a stalled reader lets more than this accumulate, lines are dropped and counted: a log must not exhaust memory. */
  charsMax: number;
  /** The line that says how many lines were dropped. */
  describeDropped(count: number): string;
}

/** Writes lines to a stream whose reader may stall. After a drop, it writes again when everything before was read. */
export function boundedOutput(
  stream: LineStream,
  { charsMax, describeDropped }: BoundedOutputOptions,
): (line: string) => void {
  let pending = 0;
  let dropped = 0;
  return (line) => {
    if (pending > (dropped > 0 ? 0 : charsMax)) {
      dropped++;
      return;
    }
    const text = dropped > 0 ? describeDropped(dropped) + line : line;
    dropped = 0;
    pending += text.length;
    stream.write(text, () => {
      pending -= text.length;
    });
  };
}
