import { loadavg } from 'node:os';
import { type RowName, SCALES, type ScaleName, type ScaleOf } from './scales.ts';
import { Scene } from './scene.ts';

/** The report of a row: what was done and how often, and what was measured. */
export interface Played {
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
  play(scene: Scene, scale: ScaleName): Promise<Played>;
}

/** The stored outcome of one row. */
export interface Result extends Played {
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
    play(scene: Scene, scale: ScaleOf<Name>): Promise<Played>;
  },
): Row {
  const { fault, mustHold, lacks = () => undefined } = parts;
  return {
    name,
    fault,
    mustHold,
    lacks,
    play: (scene, scale) => parts.play(scene, SCALES[name][scale] as ScaleOf<Name>),
  };
}

/** Runs a row in a new scene, and ends whatever it started. */
export async function playRow(one: Row, scale: ScaleName): Promise<Result> {
  const scene = new Scene(scale);
  const start = performance.now();
  let played: Played = { tried: '', figures: '' };
  try {
    played = await one.play(scene, scale);
  } catch (error) {
    scene.broke.push(`it ended early: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await scene.end();
  }
  return {
    name: one.name,
    scale,
    on: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - start) / 1000),
    load: Math.round(loadavg()[0]!),
    ...played,
    broke: scene.broke,
  };
}
