import { DIRECT_RAIL, type Transaction } from "../../../../src/domain/transaction.js";
import type { Actor } from "../../../../src/domain/values/actor.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { by } from "../../../support/commands.js";
import { decideCheck, decideHeld } from "../../../support/operations/transactions.js";
import type { Commit, RailWorld } from "./rail-world.js";

/** The persons who decide. Two of them propose files, too. */
const PERSONS = ["opr_a", "opr_b", "opr_c"] as const;
/** Those who may decide about each payout, also where it takes two. */
const LAST_PERSONS = ["opr_c", "dan"] as const;

/** Decides about redemptions that are held: as persons do, or as the organization's check says. */
export class HeldDesk {
  readonly #world: RailWorld;
  readonly #commit: Commit;

  constructor(world: RailWorld, commit: Commit) {
    this.#world = world;
    this.#commit = commit;
  }

  /** The redemptions that wait for a person. */
  held(organizationId: OrganizationId): readonly Transaction[] {
    const all = [...this.#world.disk.transactions.values()];
    return all.filter((each) => each.organizationId === organizationId && each.heldFor.length > 0);
  }

  /** The redemptions of which a person may think that they wait. */
  maybeHeld(organizationId: OrganizationId): readonly Transaction[] {
    const held = this.held(organizationId);
    if (held.length === 0 || this.#world.random.chance(0.8)) return held;
    return [...this.#world.disk.transactions.values()].filter((each) => {
      return each.organizationId === organizationId && each.type === "REDEEM" && each.rail !== DIRECT_RAIL;
    });
  }

  /**
   * The service of the organization answers, or its time is over. Servers that do not know of each
   * other ask it twice, so another answer can come after the first.
   */
  async check({ organizationId, id }: Transaction): Promise<void> {
    const answer = this.#world.random.pick(["ALLOW", "ALLOW", "HOLD", "DENY", "NO_ANSWER"] as const);
    const exchangeSha256 = answer === "NO_ANSWER" ? undefined : "e".repeat(64);
    const before = this.#world.disk.transactions.get(id);
    const done = await this.#commit(decideCheck(organizationId, id, { answer, exchangeSha256 }));
    const after = this.#world.disk.transactions.get(id);
    const waits = before?.heldFor.includes("CHECK") === true;
    if (!waits && after !== before) this.#world.violated(`what a second answer does to ${id}`, before, after);
    this.#world.tally.count("rail", `check, ${waits ? answer : "again"}: ${done}`);
  }

  /** One of the persons decides, who may have proposed the file of the payout: not if `isLast`. */
  async decide(transaction: Transaction, { isLast }: { readonly isLast: boolean }): Promise<void> {
    const { random, tally } = this.#world;
    const person = random.pick(isLast ? LAST_PERSONS : PERSONS);
    const { organizationId, id, metadata } = transaction;
    const name = random.pick(["releaseTransaction", "releaseTransaction", "refuseTransaction"] as const);
    const payoutFile = metadata.get("payout_file");
    const command = decideHeld(name, organizationId, id, payoutFile === undefined ? {} : { payoutFile });
    const done = await this.#commit({ ...command, ...by(person), actor: person as Actor });
    tally.count("rail", `held, then ${name}: ${done}`);
  }
}
