import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Chrome's CPU profile, as `node --cpu-prof` writes it for each thread; only the fields that are
 * read here. Times are in microseconds.
 */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The id of the node that ran at each sample. */
  readonly samples: readonly number[];
  /** The time since the sample before, or since `startTime`. */
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
  /** The file's URL; empty for native code. */
  readonly url: string;
}

/** The frame that ran comes first, then its caller, and so on. */
export type Stack = readonly Frame[];

/** A span of the machine's monotonic clock, in microseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The profiles in a folder: one for each thread that has ended. */
export function readProfiles(folder: string): CpuProfile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as CpuProfile);
}

/** Calls `onSample` with each sample of the span and the time that it stands for. */
export function eachSample(
  profile: CpuProfile,
  span: Span,
  onSample: (stack: Stack, microseconds: number) => void,
): void {
  const stacks = stacksOf(profile);
  let at = profile.startTime;
  profile.samples.forEach((node, index) => {
    const microseconds = profile.timeDeltas[index] ?? 0;
    at += microseconds;
    const stack = stacks.get(node);
    if (stack !== undefined && at >= span.from && at <= span.to) onSample(stack, microseconds);
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
