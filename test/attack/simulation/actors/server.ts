import type { Account } from "../../../../src/domain/account.js";
import type { Command } from "../../../../src/domain/commands.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import { commitBatch } from "../../../../src/ledger/commit-batch.js";
import { Ledger } from "../../../../src/ledger/ledger.js";
import type { CommandResult, Committer } from "../../../../src/ledger/ports/committer.js";
import type { Outcome } from "../../../../src/ledger/ports/outcome.js";
import { StoreError } from "../../../../src/ledger/ports/store.js";
import { NO_DEADLINE } from "../../../support/commands.js";
import { checkBooks } from "../checks/check-books.js";
import type { Connection, Disk, Point } from "../disks/disk.js";
import { describeCommand } from "../report/trace.js";
import { mustBe } from "../report/violation.js";
import { type Actor, type May, note, type World } from "./world.js";

/** The end of a call for its caller: the ledger's outcome, INTERNAL, or a lost connection. */
export type Heard = Outcome<Account | Transaction> | { readonly kind: "threw" } | { readonly kind: "lost" };

/** The points at which a server may stop: those of its transaction, and two more. */
type Stop = Point | "gather" | "retry";

/** A step that waits for its turn. */
interface Waiting {
  readonly stop: Stop;
  readonly goOn: () => void;
  readonly fail: (error: StoreError) => void;
}

interface OpenCall {
  readonly command: Command;
  readonly hear: (heard: Heard) => void;
}

const STEP_WEIGHT = 10;
const START_WEIGHT = 5;
const DEADLINE_MILLIS_MAX = 60;
const SIMULATED = new Error("simulated");
const CLOCK_SKEW_MILLIS_MAX = 5_000;

/**
 * One server: the real queue, the real committer and the real rules, on a disk that it may share
 * with another server.
 */
export class SimulatedServer implements Actor {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #name: string;
  readonly #queueMax: number | undefined;
  #state: "up" | "closing" | "down" = "down";
  #waiting: Waiting[] = [];
  #open = new Set<OpenCall>();
  #ledger!: Ledger;
  #connection!: Connection;
  #clockSkew = 0;

  constructor(world: World, { name, disk, queueMax }: { name: string; disk: Disk; queueMax?: number }) {
    this.#world = world;
    this.#name = name;
    this.#disk = disk;
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
    void this.#ledger.submit(command, deadline, { bulk: random.chance(0.3) }).then(
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
  }

  /** Refuses new calls, answers those that it has, and ends. */
  close(): void {
    if (this.#state !== "up") return;
    note(this.#world, this.#name, () => "begins to shut down");
    this.#state = "closing";
    const ledger = this.#ledger;
    void ledger.close().then(() => {
      this.#world.judge.closed([...this.#open].map(({ command }) => command));
      note(this.#world, this.#name, () => "has shut down");
      this.#connection.close();
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
    this.#connection.close();
  }

  #offerStep(waiting: Waiting, may: May): void {
    const { unavailable, conflict } = this.#world.faults;
    may(STEP_WEIGHT, () => {
      this.#goOn(waiting);
    });
    if (waiting.stop === "gather" || waiting.stop === "retry") return;
    may(unavailable, () => {
      this.#fail(waiting, "unavailable");
    });
    // No race is lost after the commit.
    may(this.#disk.racy && waiting.stop !== "answer" ? conflict : 0, () => {
      this.#fail(waiting, "conflict");
    });
  }

  #start(): void {
    const { random } = this.#world;
    // The disk has what was durable when this server, or another, crashed.
    checkBooks(this.#disk.books());
    this.#connection = this.#disk.open();
    this.#clockSkew = random.below(2 * CLOCK_SKEW_MILLIS_MAX) - CLOCK_SKEW_MILLIS_MAX;
    const batchMax = 1 + random.below(8);
    const batchesMax = 1 + random.below(2);
    const queueMax = this.#queueMax ?? 1 + random.below(12);
    note(
      this.#world,
      this.#name,
      () =>
        `starts: at most ${String(batchMax)} in a batch, ${String(batchesMax)} batches, ${String(queueMax)} in the queue`,
    );
    this.#ledger = new Ledger({
      committer: this.#committer(batchesMax),
      now: () => this.#now(),
      batchMax,
      queueMax,
      onStoreError: () => undefined,
      timing: {
        atEndOfTask: (callback) => {
          this.#waiting.push({ stop: "gather", goOn: callback, fail: () => undefined });
        },
        pauseAfterConflict: () => this.#turn("retry"),
      },
    });
    this.#state = "up";
  }

  #crash(): void {
    const points = this.#waiting.map(({ stop }) => stop);
    const point = points.find((stop) => stop !== "gather") ?? points[0] ?? "idle";
    note(this.#world, this.#name, () => `CRASHES, before: ${points.join(", ") || "nothing"}`);
    this.#world.tally.count("crashes", point);
    this.#connection.crash();
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
  #committer(batchesMax: number): Committer {
    let last: Promise<unknown> = Promise.resolve();
    return {
      batchesMax,
      batchUsual: 64,
      commit: (commands, now) => {
        this.#world.judge.started(commands, now);
        const answers = last.then(() => this.#commit(commands, now));
        last = answers.catch(() => undefined);
        return answers;
      },
    };
  }

  async #commit(commands: readonly Command[], now: UnixMillis): Promise<readonly CommandResult[]> {
    const { judge } = this.#world;
    const store = this.#connection.store({
      before: (point) => this.#turn(point),
      committed: () => {
        note(this.#world, this.#name, () => `COMMITTED: ${commands.map(describeCommand).join("; ")}`);
        judge.committed(commands);
      },
    });
    try {
      return await commitBatch(store, commands, now);
    } catch (error) {
      const lostRace = error instanceof StoreError && error.kind === "conflict" && error.cause !== SIMULATED;
      if (lostRace) this.#world.tally.count("other faults", "lost race");
      judge.storeFailed(commands);
      throw error;
    }
  }

  #turn(stop: Stop): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stop, goOn: resolve, fail: reject });
    });
  }

  #goOn(waiting: Waiting): void {
    note(this.#world, this.#name, () => `goes on: ${waiting.stop}`);
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    waiting.goOn();
  }

  #fail(waiting: Waiting, kind: StoreError["kind"]): void {
    note(this.#world, this.#name, () => `the store fails before: ${waiting.stop} (${kind})`);
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
    return toUnixMillis(this.#world.millis + this.#clockSkew);
  }
}
