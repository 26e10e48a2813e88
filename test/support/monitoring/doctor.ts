import { openpit } from '../program.ts';

export interface DoctorFinding {
  check: string;
  status: 'ok' | 'warning' | 'problem';
  message: string;
  fix?: string;
}

/** The findings of `openpit doctor`. */
export class Doctor {
  readonly exitCode: number;
  readonly output: string;
  readonly findings: readonly DoctorFinding[];

  private constructor(exitCode: number, output: string, findings: readonly DoctorFinding[]) {
    this.exitCode = exitCode;
    this.output = output;
    this.findings = findings;
  }

  /** Runs it, by default as a child process of this one. */
  static async run(settings: Record<string, string>, run = openpit): Promise<Doctor> {
    const { exitCode, stdout, stderr } = await run(['doctor', '--json'], settings);
    const report = JSON.parse(stdout) as { ok: boolean; findings: DoctorFinding[] };
    if (report.ok !== (exitCode === 0)) throw new Error(`exit code ${exitCode}, but ok is ${report.ok}`);
    const silent = report.findings.find(({ status, fix }) => (fix === undefined) !== (status === 'ok'));
    if (silent) throw new Error(`${silent.check} is ${silent.status} and says "${silent.fix}" to fix it`);
    return new Doctor(exitCode, stdout + stderr, report.findings);
  }

  /** The findings of a check, as `status: message → fix`. */
  of(check: string): string[] {
    return this.findings
      .filter((one) => one.check === check)
      .map(({ status, message, fix }) => `${status}: ${message}${fix === undefined ? '' : ` → ${fix}`}`);
  }

  /** The checks that are not ok. */
  get complaints(): string[] {
    return this.findings.filter(({ status }) => status !== 'ok').map(({ check }) => check);
  }
}
