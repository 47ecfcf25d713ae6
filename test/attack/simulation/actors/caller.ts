import type { Command } from "../../../../src/domain/operations.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { describeCommand } from "../report/trace.js";
import type { Calls } from "./calls.js";
import type { Receipts } from "./receipts.js";
import type { Heard, SimulatedServer } from "./server.js";
import type { Wish } from "./wish.js";
import { type Actor, type May, note, type World } from "./world.js";

const STEP_WEIGHT = 10;
// A caller waits a little before it repeats a call.
const AGAIN_WEIGHT = 3;

// After these refusals the call has had no effect, and the caller repeats it. After any other
// failure it may have had one.
const NOT_NOW: ReadonlySet<string> = new Set([
  "QUEUE_FULL",
  "SHUTTING_DOWN",
  "DEADLINE_EXCEEDED",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
]);

/** A wish that a caller pursues until it knows the outcome. */
interface Pursued {
  readonly wish: Wish;
  /** The outcome of some try is unknown. */
  unsure: boolean;
  tries: number;
}

interface Waiting {
  readonly command: Command;
  heard: Heard | undefined;
}

/**
 * Makes one call after the other, and repeats a call whose answer is lost, as the contract demands.
 */
export class Caller implements Actor {
  readonly #world: World;
  readonly #name: string;
  readonly #organizationId: OrganizationId;
  readonly #servers: readonly SimulatedServer[];
  readonly #calls: Calls;
  readonly #receipts: Receipts;
  #wishesLeft: number;
  #pursued: Pursued | undefined;
  /** The try that it waits for, and the answer that is on its way back. */
  #waiting: Waiting | undefined;

  constructor(
    world: World,
    given: {
      name: string;
      organizationId: OrganizationId;
      servers: readonly SimulatedServer[];
      calls: Calls;
      receipts: Receipts;
      wishes: number;
    },
  ) {
    this.#world = world;
    this.#name = given.name;
    this.#organizationId = given.organizationId;
    this.#servers = given.servers;
    this.#calls = given.calls;
    this.#receipts = given.receipts;
    this.#wishesLeft = given.wishes;
  }

  /** Whether all its wishes are settled. */
  get satisfied(): boolean {
    return this.#wishesLeft === 0;
  }

  /** The call that it waits for. */
  get waitsFor(): string | undefined {
    return this.#waiting === undefined ? undefined : describeCommand(this.#waiting.command);
  }

  offer(may: May): void {
    const { faults } = this.#world;
    const [waiting, pursued] = [this.#waiting, this.#pursued];
    const reachable = this.#servers.some(({ listens }) => listens);
    if (waiting?.heard !== undefined) {
      const { heard } = waiting;
      may(STEP_WEIGHT, () => {
        this.#hear(heard);
      });
      may(faults.lostAnswer, () => {
        this.#hearNothing("answer lost");
      });
    } else if (waiting !== undefined) {
      may(faults.impatience, () => {
        this.#hearNothing("caller did not wait");
      });
    } else if (pursued !== undefined) {
      may(reachable ? AGAIN_WEIGHT : 0, () => {
        this.#try(pursued);
      });
      may(faults.abandonment, () => {
        this.#abandon(pursued);
      });
    } else {
      may(reachable && this.#wishesLeft > 0 ? STEP_WEIGHT : 0, () => {
        this.#begin();
      });
    }
  }

  #begin(): void {
    this.#wishesLeft -= 1;
    this.#pursued = { wish: this.#calls.next(this.#organizationId), unsure: false, tries: 0 };
    this.#try(this.#pursued);
  }

  #try(pursued: Pursued): void {
    const { random, tally } = this.#world;
    const server = random.pick(this.#servers.filter(({ listens }) => listens));
    const command = pursued.wish.next();
    pursued.tries += 1;
    tally.count("calls", pursued.tries === 1 ? "new" : "again");
    note(this.#world, this.#name, () => `asks ${server.name}: ${describeCommand(command)}`);
    const waiting: Waiting = { command, heard: undefined };
    this.#waiting = waiting;
    this.#receipts.sent(command);
    server.submit(command, (heard) => {
      // The caller may have stopped waiting.
      if (this.#waiting !== waiting) return;
      if (heard.kind === "lost") this.#hearNothing("call cut off");
      else waiting.heard = heard;
    });
  }

  #hear(heard: Heard): void {
    const { command } = this.#waiting ?? {};
    const pursued = this.#pursued;
    this.#waiting = undefined;
    if (pursued === undefined || command === undefined) throw new Error("an answer to nothing");
    const word = wordOf(heard);
    note(this.#world, this.#name, () => `hears ${word}`);
    this.#world.tally.count("answers", word);
    if (heard.kind === "refused" && heard.refusal.reason === "STORAGE_UNAVAILABLE") {
      pursued.unsure = true;
      return;
    }
    if (heard.kind === "refused" && NOT_NOW.has(heard.refusal.reason)) return;
    this.#pursued = undefined;
    if (heard.kind === "done") {
      if (!heard.replayed) this.#world.tally.count("operations done", command.name);
      this.#receipts.acknowledged(pursued.wish, command, heard);
      this.#calls.learn(heard.resource);
    } else if (!pursued.unsure) {
      this.#receipts.refused(pursued.wish);
    }
  }

  #hearNothing(why: string): void {
    note(this.#world, this.#name, () => `hears nothing: ${why}`);
    this.#world.tally.count("other faults", why);
    this.#waiting = undefined;
    if (this.#pursued !== undefined) this.#pursued.unsure = true;
  }

  #abandon({ wish, tries }: Pursued): void {
    note(this.#world, this.#name, () => `never asks again, after ${String(tries)} tries`);
    this.#world.tally.count("other faults", "caller never asked again");
    this.#pursued = undefined;
    this.#receipts.abandoned(wish);
  }
}

function wordOf(heard: Heard): string {
  if (heard.kind === "refused") return heard.refusal.reason;
  if (heard.kind === "done") return heard.replayed ? "replayed" : "done";
  return heard.kind === "threw" ? "INTERNAL" : heard.kind;
}
