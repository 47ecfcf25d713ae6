import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { Random } from "../random.js";
import { Caller } from "./actors/caller.js";
import { Calls } from "./actors/calls.js";
import { Receipts } from "./actors/receipts.js";
import { type Heard, SimulatedServer } from "./actors/server.js";
import { type Actor, type Faults, type May, NO_FAULTS, note, type World } from "./actors/world.js";
import { checkAppendOnly, checkBooks } from "./checks/check-books.js";
import { Judge } from "./checks/judge.js";
import type { Disk } from "./disks/disk.js";
import type { Tally } from "./report/tally.js";
import type { Trace } from "./report/trace.js";
import { Violation } from "./report/violation.js";

const FIRST = "org_first" as OrganizationId;
const SECOND = "org_second" as OrganizationId;
export const ORGANIZATIONS: readonly OrganizationId[] = [FIRST, SECOND];

const STEPS_MAX = 20_000;

/**
 * One run. Servers and callers take turns in the order of the seed, and faults happen where the
 * seed has them. Then everything heals and every actor comes to rest. At last all acknowledged
 * effects are asked for again, and the books are checked.
 *
 * Throws a Violation where something does not hold.
 */
export async function simulate(
  seed: number,
  disk: Disk,
  { tally, trace }: { tally: Tally; trace: Trace },
): Promise<void> {
  const judge = new Judge();
  const unhandled = (error: unknown): void => {
    judge.unhandled(error);
  };
  process.on("unhandledRejection", unhandled);
  try {
    await run(disk, { random: new Random(seed), judge, tally, trace });
  } finally {
    process.off("unhandledRejection", unhandled);
  }
}

async function run(disk: Disk, given: Pick<World, "random" | "judge" | "tally" | "trace">): Promise<void> {
  const { random, judge, tally } = given;
  const world: World = { ...given, faults: faultsOf(random), millis: 0 };
  const receipts = new Receipts();
  const calls = new Calls(random);
  const millisMax = random.pick([1, 10, 30]);

  const servers = Array.from(
    { length: disk.racy ? 1 + random.below(2) : 1 },
    (_, index) => new SimulatedServer(world, { name: `server ${String(index + 1)}`, disk }),
  );
  const callers = Array.from({ length: 2 + random.below(4) }, (_, index) => {
    const name = `caller ${String(index + 1)}`;
    const organizationId = random.chance(0.7) ? FIRST : SECOND;
    return new Caller(world, { name, organizationId, servers, calls, receipts, wishes: 1 + random.below(6) });
  });
  const actors: Actor[] = [...servers, ...callers];

  await play(world, actors, { millisMax, until: () => callers.every(({ satisfied }) => satisfied) });
  const journalEarly = [...disk.books().journal];
  note(world, "everyone", () => "comes to rest: nothing goes wrong any more");
  world.faults = NO_FAULTS;
  await play(world, actors, { millisMax, until: () => false });
  for (const caller of callers) {
    if (caller.waitsFor !== undefined) throw new Violation(caller.waitsFor, "answered", "never answered");
  }
  for (const server of servers) {
    server.close();
    await play(world, [server], { millisMax, until: () => !server.listens });
  }

  await repeatAll(world, disk, receipts);
  const books = disk.books();
  checkBooks(books);
  checkAppendOnly(journalEarly, books);
  await disk.verify();
  judge.checkState(books, disk.organizations);
  tally.count("checked", "acknowledged effects", receipts.check(books));
  tally.count("checked", "rows of the journal", books.journal.length);
}

/** Runs one step after the other, until no actor offers one. */
async function play(
  world: World,
  actors: readonly Actor[],
  { millisMax, until }: { millisMax: number; until: () => boolean },
): Promise<void> {
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    if (until()) return;
    const actions: { weight: number; run: () => void }[] = [];
    const may: May = (weight, run) => {
      if (weight > 0) actions.push({ weight, run });
    };
    for (const actor of actors) actor.offer(may);
    if (actions.length === 0) return;
    world.random.pickWeighted(actions).run();
    // Settles every promise that the step has made ready.
    await new Promise(setImmediate);
    world.judge.throwViolation();
    world.tally.count("steps", "steps");
    world.millis += world.random.below(millisMax);
  }
  throw new Violation("the steps of a run", `fewer than ${String(STEPS_MAX)}`, "no end of it");
}

/** Repeats every wish that made something: each must get the same resource, as a replay. */
async function repeatAll(world: World, disk: Disk, receipts: Receipts): Promise<void> {
  const { repeatable } = receipts;
  // One organization may take half of the queue.
  const server = new SimulatedServer(world, { name: "last", disk, queueMax: 2 * repeatable.length + 1 });
  const answers: (Heard | undefined)[] = repeatable.map(() => undefined);
  repeatable.forEach(({ wish }, index) => {
    server.submit(wish.next(), (heard) => {
      answers[index] = heard;
    });
  });
  await play(world, [server], { millisMax: 1, until: () => false });
  repeatable.forEach(({ id }, index) => {
    const answer = answers[index];
    const again = answer?.kind === "done" && answer.replayed && answer.resource.id === id;
    if (!again) throw new Violation(`${id}, asked for again`, "the same, as a replay", answer);
  });
  server.dispose();
}

/** Half of all runs have no fault of a kind: a bug that only shows without it shows there. */
function faultsOf(random: Random): Faults {
  const some = (max: number): number => (random.chance(0.5) ? 0 : (max * (1 + random.below(10))) / 10);
  return {
    crash: some(1),
    shutdown: some(0.2),
    unavailable: some(1),
    conflict: some(1.5),
    lostAnswer: some(3),
    impatience: some(0.5),
    abandonment: some(1),
    deadlines: some(0.4),
  };
}
