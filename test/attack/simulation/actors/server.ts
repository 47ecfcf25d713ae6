import type { Command, Resource } from "../../../../src/domain/operations.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import { commitBatch } from "../../../../src/ledger/commit-batch.js";
import { Ledger } from "../../../../src/ledger/ledger.js";
import type { CommandResult, Committer } from "../../../../src/ledger/ports/committer.js";
import type { Outcome } from "../../../../src/ledger/ports/outcome.js";
import { StoreError } from "../../../../src/ledger/ports/store.js";
import { NO_DEADLINE } from "../../../support/names.js";
import { checkBooks } from "../checks/check-books.js";
import type { Clocks } from "../checks/judge.js";
import type { Connection, Disk, Point } from "../disks/disk.js";
import { describeCommand } from "../report/trace.js";
import { mustBe } from "../report/violation.js";
import { type Actor, type May, note, timeOf, type World } from "./world.js";

/** The end of a call for its caller: the ledger's outcome, INTERNAL, or a lost connection. */
export type Heard = Outcome<Resource> | { readonly kind: "threw" } | { readonly kind: "lost" };

/** The points at which a server may stop: those of its transaction, and two more. */
type Stop = Point | "gather" | "retry" | "rest";

/** A step that waits for its turn. */
interface Waiting {
  readonly stop: Stop;
  readonly cell: ServedCell;
  readonly goOn: () => void;
  readonly fail: (error: StoreError) => void;
}

interface OpenCall {
  readonly command: Command;
  readonly hear: (heard: Heard) => void;
}

/** One cell, as a server that is up serves it: a queue and a committer of its own. */
interface ServedCell {
  /** Its part of a line in the trace; empty if there is one cell. */
  readonly words: string;
  readonly disk: Disk;
  readonly connection: Connection;
  readonly ledger: Ledger;
}

const STEP_WEIGHT = 10;
const START_WEIGHT = 5;
const CORRECTION_WEIGHT = 0.3;
const DEADLINE_MILLIS_MAX = 60;
const SIMULATED = new Error("simulated");
// Two clocks that somebody synchronizes differ by less than 2 seconds.
const SKEW_MILLIS_MAX = 1_500;
const AHEAD_MILLIS_MAX = 100_000;
const BEHIND_MILLIS_MAX = 200_000;

/**
 * One server: the real queue, the real committer and the real rules in each cell, on disks that it
 * may share with other servers.
 */
export class SimulatedServer implements Actor {
  readonly #world: World;
  readonly #disks: readonly Disk[];
  readonly #name: string;
  readonly #queueMax: number | undefined;
  #state: "up" | "closing" | "down" = "down";
  #waiting: Waiting[] = [];
  #open = new Set<OpenCall>();
  #cells: readonly ServedCell[] = [];
  #skewMillis = 0;

  constructor(world: World, { name, disks, queueMax }: { name: string; disks: readonly Disk[]; queueMax?: number }) {
    this.#world = world;
    this.#name = name;
    this.#disks = disks;
    this.#queueMax = queueMax;
    this.#start();
  }

  /** Whether a call reaches the server. */
  get listens(): boolean {
    return this.#state !== "down";
  }

  get name(): string {
    return this.#name;
  }

  /** Calls `hear` once, after the answer or after the crash, whichever comes first. */
  submit(command: Command, hear: (heard: Heard) => void): void {
    const { random, faults, judge } = this.#world;
    const hurried = random.chance(faults.deadlines);
    const deadline = hurried ? toUnixMillis(this.#now() + random.below(DEADLINE_MILLIS_MAX)) : NO_DEADLINE;
    const call: OpenCall = { command, hear };
    this.#open.add(call);
    judge.sent(command, deadline);
    const { ledger } = this.#cellOf(command.organizationId);
    void ledger.submit(command, deadline, { bulk: random.chance(0.3) }).then(
      (outcome) => {
        judge.answered(command, outcome, this.#now());
        this.#answer(call, outcome);
      },
      (error: unknown) => {
        judge.threw(command, error);
        this.#answer(call, { kind: "threw" });
      },
    );
  }

  offer(may: May): void {
    const { faults } = this.#world;
    if (this.#state === "down") {
      may(START_WEIGHT, () => {
        this.#start();
      });
      return;
    }
    for (const waiting of this.#waiting) this.#offerStep(waiting, may);
    // A crash of an idle server tests little.
    may(this.#waiting.length > 0 ? faults.crash : faults.crash / 10, () => {
      this.#crash();
    });
    may(this.#state === "up" ? faults.shutdown : 0, () => {
      this.#world.tally.count("other faults", "shutdown");
      this.close();
    });
    may(this.#isFarWrong() ? CORRECTION_WEIGHT : faults.clockJump, () => {
      this.#world.tally.count("other faults", "clock jumped");
      this.setClock();
    });
  }

  /** Sets the clock, which then differs from the right time by more or less. */
  setClock(): void {
    const { random, faults } = this.#world;
    this.#skewMillis = random.chance(faults.wrongClocks)
      ? this.#farWrongSkew()
      : random.between(-SKEW_MILLIS_MAX, SKEW_MILLIS_MAX);
    note(this.#world, this.#name, () => `has a clock that is ${String(this.#skewMillis)} ms ahead`);
  }

  #farWrongSkew(): number {
    const { random } = this.#world;
    // A disk without a clock of its own can't tell a fast clock: its book would get the wrong time.
    const isAhead = this.#isRacy && random.chance(0.5);
    return isAhead
      ? random.between(SKEW_MILLIS_MAX, AHEAD_MILLIS_MAX)
      : -random.between(SKEW_MILLIS_MAX, BEHIND_MILLIS_MAX);
  }

  #isFarWrong(): boolean {
    return Math.abs(this.#skewMillis) > SKEW_MILLIS_MAX;
  }

  /** Refuses new calls, answers those that it has, and ends. */
  close(): void {
    if (this.#state !== "up") return;
    note(this.#world, this.#name, () => "begins to shut down");
    this.#state = "closing";
    void Promise.all(this.#cells.map(({ ledger }) => ledger.close())).then(() => {
      this.#world.judge.closed([...this.#open].map(({ command }) => command));
      note(this.#world, this.#name, () => "has shut down");
      this.#closeConnections();
      this.#state = "down";
    });
  }

  /** Ends for good. No step may be waiting. */
  dispose(): void {
    if (this.#state === "down") return;
    mustBe(
      `what ${this.#name} still has to do`,
      [],
      this.#waiting.map(({ stop }) => stop),
    );
    this.#closeConnections();
  }

  #closeConnections(): void {
    for (const { connection } of this.#cells) connection.close();
  }

  #cellOf(organizationId: OrganizationId): ServedCell {
    const cell = this.#cells.find(({ disk }) => disk.organizations.includes(organizationId));
    if (cell === undefined) throw new Error(`no cell has the book of ${organizationId}`);
    return cell;
  }

  get #isRacy(): boolean {
    return this.#disks.every(({ racy }) => racy);
  }

  #offerStep(waiting: Waiting, may: May): void {
    const { unavailable, conflict } = this.#world.faults;
    may(STEP_WEIGHT, () => {
      this.#goOn(waiting);
    });
    if (waiting.stop === "gather" || waiting.stop === "retry" || waiting.stop === "rest") return;
    may(unavailable, () => {
      this.#fail(waiting, "unavailable");
    });
    // No race is lost after the commit.
    may(this.#isRacy && waiting.stop !== "answer" ? conflict : 0, () => {
      this.#fail(waiting, "conflict");
    });
  }

  #start(): void {
    const { random } = this.#world;
    // The disks have what was durable when this server, or another, crashed.
    for (const disk of this.#disks) checkBooks(disk, disk.books());
    this.setClock();
    const batchMax = 1 + random.below(8);
    const batchesMax = 1 + random.below(2);
    const queueMax = this.#queueMax ?? 1 + random.below(12);
    note(
      this.#world,
      this.#name,
      () =>
        `starts: at most ${String(batchMax)} in a batch, ${String(batchesMax)} batches, ${String(queueMax)} in the queue`,
    );
    this.#cells = this.#disks.map((disk, index) => {
      const cell: ServedCell = {
        words: this.#disks.length > 1 ? ` in cell ${String(index + 1)}` : "",
        disk,
        connection: disk.open(),
        ledger: new Ledger({
          committer: this.#committer(batchesMax, () => cell),
          now: () => this.#now(),
          batchMax,
          queueMax,
          onStoreError: () => undefined,
          timing: {
            atEndOfTask: (callback) => {
              this.#waiting.push({ stop: "gather", cell, goOn: callback, fail: () => undefined });
            },
            pauseAfterConflict: () => this.#turn("retry", cell),
            rest: () => this.#turn("rest", cell),
          },
        }),
      };
      return cell;
    });
    this.#state = "up";
  }

  #crash(): void {
    const points = this.#waiting.map(({ stop }) => stop);
    const point = points.find((stop) => stop !== "gather") ?? points[0] ?? "idle";
    note(this.#world, this.#name, () => `CRASHES, before: ${points.join(", ") || "nothing"}`);
    this.#world.tally.count("crashes", point);
    for (const { connection } of this.#cells) connection.crash();
    // The waiting steps never go on: their promises never settle, as in a process that is gone.
    this.#waiting = [];
    const cut = this.#open;
    this.#open = new Set();
    this.#state = "down";
    for (const { hear } of cut) hear({ kind: "lost" });
  }

  /**
   * Commits one batch after the other, in the order in which they came, as the thread of SQLite
   * does.
   */
  #committer(batchesMax: number, cellOf: () => ServedCell): Committer {
    let last: Promise<unknown> = Promise.resolve();
    return {
      batchesMax,
      batchUsual: 64,
      commit: (commands, now) => {
        this.#world.judge.started(commands, now);
        const answers = last.then(() => this.#commit(cellOf(), commands, now));
        last = answers.catch(() => undefined);
        return answers;
      },
    };
  }

  async #commit(cell: ServedCell, commands: readonly Command[], now: UnixMillis): Promise<readonly CommandResult[]> {
    const { judge } = this.#world;
    const clocks: Clocks = { server: now, database: this.#isRacy ? timeOf(this.#world) : undefined };
    const store = cell.connection.store({
      before: (point) => this.#turn(point, cell),
      committed: () => {
        note(this.#world, this.#name, () => `COMMITTED${cell.words}: ${commands.map(describeCommand).join("; ")}`);
        judge.committed(commands, clocks);
      },
    });
    try {
      return await commitBatch(store, commands, now);
    } catch (error) {
      if (error instanceof StoreError && error.cause !== SIMULATED) this.#watchRealFailure(error, clocks);
      judge.storeFailed(commands);
      throw error;
    }
  }

  #watchRealFailure({ kind, cause }: StoreError, clocks: Clocks): void {
    const { tally, judge } = this.#world;
    if (kind === "conflict") tally.count("other faults", "lost race");
    if (kind !== "unavailable") return;
    tally.count("other faults", "clock refused");
    judge.clockRefused(cause, clocks);
  }

  #turn(stop: Stop, cell: ServedCell): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stop, cell, goOn: resolve, fail: reject });
    });
  }

  #goOn(waiting: Waiting): void {
    note(this.#world, this.#name, () => `goes on${waiting.cell.words}: ${waiting.stop}`);
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    waiting.goOn();
  }

  #fail(waiting: Waiting, kind: StoreError["kind"]): void {
    note(this.#world, this.#name, () => `the store fails${waiting.cell.words} before: ${waiting.stop} (${kind})`);
    const unheard = kind === "unavailable" && waiting.stop === "answer";
    this.#world.tally.count("other faults", unheard ? "commit not heard of" : `store ${kind}`);
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    waiting.fail(new StoreError(kind, SIMULATED));
  }

  #answer(call: OpenCall, heard: Heard): void {
    this.#open.delete(call);
    call.hear(heard);
  }

  #now(): UnixMillis {
    return toUnixMillis(timeOf(this.#world) + this.#skewMillis);
  }
}
