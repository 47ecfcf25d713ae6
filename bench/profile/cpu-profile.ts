import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What `node --cpu-prof` writes for each thread, as far as it is read here: Chrome's CPU profile.
 * Times in microseconds.
 */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The id of the node that ran at each sample. */
  readonly samples: readonly number[];
  /** From the sample before, or from `startTime`. */
  readonly timeDeltas: readonly number[];
  /** On the machine's monotonic clock. */
  readonly startTime: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: Frame;
  readonly children?: readonly number[];
}

export interface Frame {
  readonly functionName: string;
  /** Of the file; empty for what is not JavaScript. */
  readonly url: string;
}

/** How long something ran: the frame itself first, then who called it, and so on. */
export type Stack = readonly Frame[];

/** A span of the machine's monotonic clock, in microseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The profiles in a folder, one for each thread that ended since. */
export function readProfiles(folder: string): CpuProfile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile);
}

/** Calls `hear` with each sample of the span, and how long it stands for. */
export function eachSample(profile: CpuProfile, span: Span, hear: (stack: Stack, microseconds: number) => void): void {
  const stacks = stacksOf(profile);
  let at = profile.startTime;
  profile.samples.forEach((node, index) => {
    const microseconds = profile.timeDeltas[index] ?? 0;
    at += microseconds;
    const stack = stacks.get(node);
    if (stack !== undefined && at >= span.from && at <= span.to) hear(stack, microseconds);
  });
}

function stacksOf({ nodes }: CpuProfile): ReadonlyMap<number, Stack> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const stackOf = (id: number | undefined): Frame[] => {
    const frame = id === undefined ? undefined : frames.get(id);
    return frame === undefined ? [] : [frame, ...stackOf(parents.get(id ?? 0))];
  };
  return new Map(nodes.map(({ id }) => [id, stackOf(id)]));
}
