/** One failed test, or an error outside every test, with the lines that Bun printed about it. */
export interface Failure {
  file: string;
  name: string;
  details: readonly string[];
}

const DETAIL_LINES_MAX = 60;

/** What the output of `bun test` says. */
export interface Report {
  passed: number;
  failed: number;
  failures: Failure[];
}

export function parseReport(output: string): Report {
  const reader = new ReportReader();
  for (const line of Bun.stripANSI(output).split('\n')) reader.add(line);
  return { passed: reader.counts.pass, failed: reader.counts.fail, failures: reader.failures };
}

/**
 * Reads the output of `bun test` line by line. Bun prints the error of a test before its `(fail)` line, and the
 * name of a file before the first of its tests.
 */
class ReportReader {
  readonly failures: Failure[] = [];
  readonly counts = { pass: 0, fail: 0 };
  #file = '';
  #details: string[] = [];
  #inRecap = false;
  #inUnhandledError = false;

  add(line: string): void {
    const count = /^\s*(\d+) (pass|fail)$/.exec(line);
    if (count) this.counts[count[2] as 'pass' | 'fail'] = Number(count[1]);
    else if (/^\d+ tests? failed:$/.test(line))
      this.#inRecap = true; // repeats the names
    else if (!this.#inRecap) this.#addResultLine(line);
  }

  #addResultLine(line: string): void {
    const file = /^(?:::group::)?(\S+\.test\.tsx?):$/.exec(line)?.[1];
    const failed = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/.exec(line)?.[1];
    if (file !== undefined) this.#startFile(file);
    else if (failed !== undefined) this.#addFailure(failed);
    else if (/^\((pass|skip|todo)\) /.test(line)) this.#details = [];
    else if (line === '# Unhandled error between tests') this.#inUnhandledError = true;
    else if (this.#inUnhandledError) this.#addUnhandledErrorLine(line);
    else if (line.startsWith('  ^ this test ')) this.#addNote(line);
    else this.#details.push(line);
  }

  #startFile(file: string): void {
    this.#file = file;
    this.#details = [];
  }

  #addFailure(name: string): void {
    this.failures.push({ file: this.#file, name, details: lastLines(this.#details) });
    this.#details = [];
  }

  /** The error stands between two lines of dashes. */
  #addUnhandledErrorLine(line: string): void {
    if (!/^-+$/.test(line)) this.#details.push(line);
    else if (this.#details.some((detail) => detail !== '')) {
      this.#inUnhandledError = false;
      this.#addFailure('error outside the tests');
    }
  }

  /** A timeout is the only thing that Bun says about a test after its result. */
  #addNote(line: string): void {
    const last = this.failures.pop();
    if (last) this.failures.push({ ...last, details: [...last.details, line] });
  }
}

/** A failure keeps its last lines: the assertion and the stack come right before its result. */
function lastLines(lines: readonly string[]): readonly string[] {
  return lines.slice(-DETAIL_LINES_MAX);
}

/** The failure of something that is not a test, with the end of its output. */
export function failureOf(file: string, name: string, output: string): Failure {
  return { file, name, details: lastLines(Bun.stripANSI(output).trimEnd().split('\n')) };
}

/** The failures as the last thing to print, so that the end of a log shows the reasons. */
export function formatFailures(failures: readonly Failure[]): string {
  return failures
    .map(({ file, name, details }) => [`FAILED ${file} > ${name}`, ...details].join('\n'))
    .join('\n\n');
}
