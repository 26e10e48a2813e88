import { loadavg } from 'node:os';
import { Environment } from './environment.ts';
import { type RowName, SCALES, type ScaleName, type ScaleOf } from './scales.ts';

/** The report of a row: what was done and how often, and what was measured. */
export interface RowReport {
  tried: string;
  figures: string;
}

/** One row of the reliability table: a real fault, and what must hold. */
export interface Row {
  name: RowName;
  fault: string;
  mustHold: string;
  /** What this machine lacks to run it; undefined when it can run. */
  lacks(): string | undefined;
  run(environment: Environment, scale: ScaleName): Promise<RowReport>;
}

/** The stored outcome of one row. */
export interface Result extends RowReport {
  name: RowName;
  scale: ScaleName;
  /** The day of the run. */
  on: string;
  seconds: number;
  /** The load average of the machine at the end. */
  load?: number;
  /** Everything that did not hold. Empty: all held. */
  broke: readonly string[];
}

export function row<Name extends RowName>(
  name: Name,
  parts: {
    fault: string;
    mustHold: string;
    lacks?(): string | undefined;
    run(environment: Environment, scale: ScaleOf<Name>): Promise<RowReport>;
  },
): Row {
  const { fault, mustHold, lacks = () => undefined } = parts;
  return {
    name,
    fault,
    mustHold,
    lacks,
    run: (environment, scale) => parts.run(environment, SCALES[name][scale] as ScaleOf<Name>),
  };
}

/** Runs a row in a new environment, and ends whatever it started. */
export async function runRow(one: Row, scale: ScaleName): Promise<Result> {
  const environment = new Environment(scale);
  const start = performance.now();
  let report: RowReport = { tried: '', figures: '' };
  try {
    report = await one.run(environment, scale);
  } catch (error) {
    environment.broke.push(`it ended early: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await environment.end();
  }
  return {
    name: one.name,
    scale,
    on: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - start) / 1000),
    load: Math.round(loadavg()[0]!),
    ...report,
    broke: environment.broke,
  };
}
