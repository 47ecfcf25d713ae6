import type { ReceiveDeposit } from "../../../../src/domain/deposits/receive-deposit.js";
import { toCents } from "../../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { depositReference } from "../../../support/names.js";
import { receiveDeposit } from "../../../support/operations/deposits.js";
import type { Books } from "../disks/disk.js";
import { describeCommand } from "../report/trace.js";
import { mustBe, mustHold } from "../report/violation.js";
import type { Calls } from "./calls.js";
import type { SimulatedServer } from "./server.js";
import { type Actor, type May, NO_FAULTS, note, type World } from "./world.js";

const PAY_WEIGHT = 2;
const SWEEP_WEIGHT = 4;
const NUMBERS = 6;

/** A payment on the list of the rail. */
interface Listed {
  readonly command: ReceiveDeposit;
  /** How far the sweep has come: "in the book" is final, and "refused" is at rest. */
  state: "listed" | "asked" | "in the book" | "refused";
}

/**
 * The payers of one organization, who pay by themselves, and the sweep, which reads the list of the
 * rail. It asks for a payment until the ledger says that the book has it, whatever crashes between.
 */
export class Payers implements Actor {
  readonly #world: World;
  readonly #organizationId: OrganizationId;
  readonly #servers: readonly SimulatedServer[];
  readonly #calls: Calls;
  readonly #list: Listed[] = [];
  #paymentsLeft: number;

  constructor(
    world: World,
    given: {
      organizationId: OrganizationId;
      servers: readonly SimulatedServer[];
      calls: Calls;
    },
  ) {
    this.#world = world;
    this.#organizationId = given.organizationId;
    this.#servers = given.servers;
    this.#calls = given.calls;
    this.#paymentsLeft = world.random.below(8);
  }

  offer(may: May): void {
    const isAtRest = this.#world.faults === NO_FAULTS;
    may(this.#paymentsLeft > 0 ? PAY_WEIGHT : 0, () => {
      this.#pay();
    });
    const servers = this.#servers.filter(({ listens }) => listens);
    for (const listed of this.#list) {
      const isWaiting = listed.state === "listed" || (listed.state === "refused" && !isAtRest);
      may(isWaiting && servers.length > 0 ? SWEEP_WEIGHT : 0, () => {
        this.#ask(listed, this.#world.random.pick(servers));
      });
    }
  }

  /** Checks that the book has the whole list, each payment once, and invents no deposit. */
  check({ deposits, journal }: Pick<Books, "deposits" | "journal">): number {
    const own = <Row extends { readonly organizationId: OrganizationId }>(rows: readonly Row[]): readonly Row[] =>
      rows.filter(({ organizationId }) => organizationId === this.#organizationId);
    const entries = own(journal);
    for (const { command, state } of this.#list) {
      const { receipt, amountCents } = command;
      const found = entries.filter((entry) => entry.receipt === receipt).map(({ posting }) => posting?.amountCents);
      const isThere = state === "in the book" || found.length > 0;
      mustBe(`the rows of the payment ${receipt}`, isThere ? [amountCents] : [], found);
      mustHold(state !== "listed" && state !== "asked", () => ({
        what: `what the sweep knows of ${receipt}, at rest`,
        expected: "in the book, or refused",
        found: state,
      }));
    }
    const listed = new Set(this.#list.map(({ command }) => command.receipt));
    const invented = own(deposits).filter(({ rail, receipt }) => rail !== "direct" && !listed.has(receipt));
    mustBe(`the deposits of ${this.#organizationId} that no list has`, [], invented);
    return this.#list.filter(({ state }) => state === "in the book").length;
  }

  #pay(): void {
    const { random } = this.#world;
    this.#paymentsLeft -= 1;
    const receipt = `paid ${String(this.#list.length)} ${this.#organizationId}`;
    const order = random.chance(0.5) ? this.#calls.ordersOf(this.#organizationId).at(-1 - random.below(3)) : undefined;
    const number = random.below(NUMBERS);
    const typed = random.pick(["", "rent", depositReference(number), depositReference(number)]);
    const amount = random.chance(0.95) ? 1 + random.below(300) : 999_999_999_999_900;
    const amountCents = order !== undefined && random.chance(0.7) ? order.amountCents : toCents(amount);
    const others = this.#list.flatMap(({ command }) => (command.orderId === order?.id ? command.receipt : []));
    const named = { typed: order === undefined ? typed : String(order.reference), orderId: order?.id };
    const command = receiveDeposit(this.#organizationId, { receipt, amountCents, ...named, ...this.#calls.newIds() });
    const confirmed = random.chance(0.7)
      ? [...others, ...(order?.railReceipt === undefined ? [] : [order.railReceipt])]
      : [];
    this.#list.push({ command: { ...command, confirmedReceipts: [...confirmed, command.receipt] }, state: "listed" });
    note(this.#world, "a payer", () => `pays: ${describeCommand(command)}`);
  }

  #ask(listed: Listed, server: SimulatedServer): void {
    const again: ReceiveDeposit = { ...listed.command, ...this.#calls.newIds() };
    listed.state = "asked";
    note(this.#world, "the sweep", () => `asks ${server.name}: ${describeCommand(again)}`);
    server.submit(again, (heard) => {
      if (heard.kind === "done") {
        listed.state = "in the book";
        if (!heard.replayed) {
          this.#world.tally.count("operations done", "receiveDeposit");
          this.#calls.learn(heard.resource);
        }
        return;
      }
      const reason = heard.kind === "refused" ? heard.refusal.reason : heard.kind;
      this.#world.tally.count("answers of the sweep", reason);
      listed.state = reason === "BOOK_RESTORED" || reason === "LIMIT_EXCEEDED" ? "refused" : "listed";
    });
  }
}
