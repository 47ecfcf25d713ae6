import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { Random } from "../random.js";
import { Caller } from "./actors/caller.js";
import { Calls } from "./actors/calls.js";
import { Operator } from "./actors/operator.js";
import { Payers } from "./actors/payers.js";
import { Reader } from "./actors/reader.js";
import { Receipts } from "./actors/receipts.js";
import { type Heard, SimulatedServer } from "./actors/server.js";
import { type Actor, type Faults, type May, NO_FAULTS, note, timeOf, type World } from "./actors/world.js";
import { checkBooks } from "./checks/check-books.js";
import { Judge } from "./checks/judge.js";
import { type Books, BOOKS_BEGIN, type Disk, type MakeDisk, ORGANIZATIONS } from "./disks/disk.js";
import type { Tally } from "./report/tally.js";
import type { Trace } from "./report/trace.js";
import { Violation } from "./report/violation.js";

const CELLS_MAX = 3;
const SERVERS_MAX = 3;
const STEPS_MAX = 20_000;

/**
 * One run, on the disks that `makeDisk` makes for its cells. Servers and callers take turns in the
 * order of the seed, and faults happen where the seed has them. Then everything heals and every
 * actor comes to rest. At last all acknowledged effects are asked for again, and the books are
 * checked.
 *
 * Throws a Violation where something does not hold.
 */
export async function simulate(
  seed: number,
  makeDisk: MakeDisk,
  { tally, trace }: { tally: Tally; trace: Trace },
): Promise<void> {
  const judge = new Judge();
  const unhandled = (error: unknown): void => {
    judge.unhandled(error);
  };
  process.on("unhandledRejection", unhandled);
  const random = new Random(seed);
  const world: World = { random, judge, tally, trace, faults: faultsOf(random), millis: 0 };
  let disks: readonly Disk[] = [];
  try {
    disks = makeDisks(world, makeDisk);
    await run(world, disks);
  } finally {
    process.off("unhandledRejection", unhandled);
    for (const disk of disks) disk.dispose();
  }
}

/** Makes the disk of each cell. Each organization has its book in one of the cells. */
function makeDisks(world: World, makeDisk: MakeDisk): readonly Disk[] {
  const { random, judge, tally } = world;
  const organizations = ORGANIZATIONS.slice(0, 1 + random.below(ORGANIZATIONS.length));
  const cellCount = Math.min(organizations.length, 1 + random.below(CELLS_MAX));
  const cells = Array.from({ length: cellCount }, (): OrganizationId[] => []);
  organizations.forEach((organizationId, index) => {
    (cells[index] ?? random.pick(cells)).push(organizationId);
    judge.opened(organizationId, BOOKS_BEGIN);
  });
  tally.count("books", cellCount === 1 ? "in one cell" : `in ${String(cellCount)} cells`, organizations.length);
  return cells.map((own) => makeDisk(own, () => timeOf(world)));
}

async function run(world: World, disks: readonly Disk[]): Promise<void> {
  const { random, judge, tally } = world;
  const receipts = new Receipts();
  const calls = new Calls(random);
  const millisMax = random.pick([1, 10, 30]);
  const organizations = disks.flatMap((disk) => disk.organizations);

  const servers = Array.from(
    { length: disks.every(({ racy }) => racy) ? 1 + random.below(SERVERS_MAX) : 1 },
    (_, index) => new SimulatedServer(world, { name: `server ${String(index + 1)}`, disks }),
  );
  const callers = Array.from({ length: 2 + random.below(4) }, (_, index) => {
    const name = `caller ${String(index + 1)}`;
    // Half of the callers share the first organization, so that they meet.
    const organizationId = random.pick(random.chance(0.5) ? organizations.slice(0, 1) : organizations);
    return new Caller(world, { name, organizationId, servers, calls, receipts, wishes: 1 + random.below(18) });
  });
  const operators = disks.map((disk) => new Operator(world, disk));
  const readers = disks.flatMap((disk) =>
    disk.organizations.map((organizationId) => new Reader(world, { disk, organizationId })),
  );
  const payers = organizations.map((organizationId) => new Payers(world, { organizationId, servers, calls }));
  const actors: Actor[] = [...servers, ...callers, ...operators, ...payers];

  await play(world, [...actors, ...readers], { millisMax, until: () => callers.every(({ satisfied }) => satisfied) });
  note(world, "everyone", () => "comes to rest: nothing goes wrong any more");
  world.faults = NO_FAULTS;
  for (const server of servers) server.setClock();
  await play(world, actors, { millisMax, until: () => false });
  for (const caller of callers) {
    if (caller.waitsFor !== undefined) throw new Violation(caller.waitsFor, "answered", "never answered");
  }
  for (const server of servers) {
    server.close();
    await play(world, [server], { millisMax, until: () => !server.listens });
  }

  await repeatAll(world, disks, receipts);
  for (const reader of readers) reader.finish();
  for (const disk of disks) {
    checkBooks(disk, disk.books());
    await disk.verify();
    judge.checkState(disk.books(), disk.organizations);
  }
  const rows = rowsOf(disks);
  for (const each of payers) tally.count("checked", "payments of the list", each.check(rows));
  tally.count("checked", "acknowledged effects", receipts.check(rows));
  tally.count("checked", "rows of the journal", rows.journal.length);
}

/** The rows of all cells. */
function rowsOf(disks: readonly Disk[]): Pick<Books, "accounts" | "transactions" | "deposits" | "journal"> {
  const all = disks.map((disk) => disk.books());
  return {
    accounts: all.flatMap(({ accounts }) => accounts),
    transactions: all.flatMap(({ transactions }) => transactions),
    deposits: all.flatMap(({ deposits }) => deposits),
    journal: all.flatMap(({ journal }) => journal),
  };
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
async function repeatAll(world: World, disks: readonly Disk[], receipts: Receipts): Promise<void> {
  const repeatable = receipts.repeatable(rowsOf(disks));
  // One organization may take half of the queue.
  const server = new SimulatedServer(world, { name: "last", disks, queueMax: 2 * repeatable.length + 1 });
  const answers: (Heard | undefined)[] = repeatable.map(() => undefined);
  repeatable.forEach(({ wish }, index) => {
    server.submit(wish.next(), (heard) => {
      answers[index] = heard;
    });
  });
  await play(world, [server], { millisMax: 1, until: () => false });
  repeatable.forEach(({ id }, index) => {
    const answer = answers[index];
    const again = answer?.kind === "done" && answer.replayed && "id" in answer.resource && answer.resource.id === id;
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
    clockJump: some(0.3),
    wrongClocks: some(0.3),
    move: some(0.1),
    suspend: some(0.1),
  };
}
