import { loadavg } from 'node:os';
import { type RowName, SCALES, type ScaleName, type ScaleOf } from './scales.ts';
import { Scene } from './scene.ts';

/** What a row says after it was played: what was done and how often, and what was measured. */
export interface Played {
  tried: string;
  figures: string;
}

/** One row of the reliability table: a fault by real means, and what must hold. */
export interface Row {
  name: RowName;
  fault: string;
  mustHold: string;
  /** What this machine lacks for it; undefined when it can be played. */
  lacks(): string | undefined;
  play(scene: Scene, scale: ScaleName): Promise<Played>;
}

/** The outcome of one row, as it is kept and shown. */
export interface Result extends Played {
  name: RowName;
  scale: ScaleName;
  /** The day it was played. */
  on: string;
  seconds: number;
  /** What else the machine had to do: its load average at the end. */
  load?: number;
  /** Everything that did not hold, in words. Empty: all held. */
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

/** Plays a row in a scene of its own, and ends whatever it started. */
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
