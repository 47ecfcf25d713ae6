import { createHash } from "node:crypto";

import { type BankFileId, bankFileId } from "../../../../src/domain/bank-file.js";
import type { BankNumber } from "../../../../src/domain/destination.js";
import { BANK_RAIL } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { type NairobiDay, nairobiDayOf } from "../../../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../../src/domain/values/time.js";
import { railAccountsText } from "../../../../src/ledger/ports/store.js";
import { BankRail } from "../../../../src/rails/bank/bank.js";
import { SETTINGS } from "../../../../src/rails/bank/settings.js";
import type { StoredPayment } from "../../../../src/settlement/ports/payments.js";
import { by, type CommandOf } from "../../../support/commands.js";
import { collectBankFile, downloadBankFile, reportBankFileLost } from "../../../support/operations/bank-files.js";
import { recordReserve } from "../../../support/operations/book.js";
import { recordDeposit } from "../../../support/operations/deposits.js";
import { setRailAccount } from "../../../support/operations/rails.js";
import { resolve, resolveTransactions } from "../../../support/operations/transactions.js";
import { bankAccountOf } from "./given-organization.js";
import type { Commit, May, RailWorld } from "./rail-world.js";
import type { SimulatedBank, StatementLine } from "./simulated-bank.js";

const STEPS_MAX = 30;
const PLACE = "KCB 1234";
const REST_MILLIS = [0, 0, 30_000, 5 * 60_000, 5 * 3_600_000];
const PERSONS = ["opr_a", "opr_b"] as const;

/** A file that somebody has proposed. */
interface Proposed {
  readonly command: CommandOf<"collectBankFile">;
  readonly bytes: string;
}

/**
 * Pays the accounts at banks of one organization. It collects payments into files, which two
 * persons approve or not, downloads files and brings each copy to the bank, loses some, and reads
 * what the bank tells.
 */
export class Treasurer {
  readonly #world: RailWorld;
  readonly #bank: SimulatedBank;
  readonly #organizationId: OrganizationId;
  readonly #commit: Commit;
  readonly #proposed: Proposed[] = [];
  readonly #approved = new Map<BankFileId, Proposed>();
  /** What persons have on a stick. */
  readonly #copies: string[] = [];
  #stepsLeft: number;
  #nextAt = 0;
  #isCareless = false;

  constructor(world: RailWorld, given: { organizationId: OrganizationId; bank: SimulatedBank; commit: Commit }) {
    this.#world = world;
    this.#bank = given.bank;
    this.#organizationId = given.organizationId;
    this.#commit = given.commit;
    this.#stepsLeft = 5 + world.random.below(STEPS_MAX);
  }

  /** Sets the account that pays, and the place of its statements. */
  async open(): Promise<void> {
    const asOfDay = "2001-01-30" as NairobiDay;
    await this.#commit(recordReserve(this.#organizationId, PLACE, { asOfDay }));
    await this.#setAccount("Acme Ltd");
  }

  /** When it acts next, since the run began. Undefined: never. */
  get nextAt(): number | undefined {
    return this.#stepsLeft > 0 ? this.#nextAt : undefined;
  }

  offer(may: May): void {
    const { random, payments } = this.#world;
    if (this.#stepsLeft === 0 || this.#world.millis < this.#nextAt) return;
    const act = (weight: number, run: () => void): void => {
      may(weight, () => {
        this.#stepsLeft -= 1;
        this.#nextAt = this.#world.millis + this.#world.random.pick(REST_MILLIS);
        run();
      });
    };
    this.#isCareless = random.chance(0.1);
    const waiting = payments.all().filter((each) => this.#isWaiting(each));
    if (waiting.length > 0) {
      act(2, () => void this.#propose(random.chance(0.6) ? waiting : [random.pick(waiting)]));
    }
    const proposed = this.#proposed.at(-1 - random.below(3));
    if (proposed !== undefined) act(3, () => void this.#decide(proposed, random.pick(PERSONS)));
    const approved = [...this.#approved.values()];
    if (approved.length > 0) {
      act(3, () => void this.#download(random.pick(approved)));
      act(0.4, () => void this.#lose(random.pick(approved)));
    }
    if (this.#copies.length > 0) {
      act(3, () => {
        this.#bank.bring(this.#organizationId, random.pick(this.#copies));
      });
    }
    if (this.#bank.statement(this.#organizationId).length > 0) act(2, () => void this.#readStatement());
    if (this.#bank.refused(this.#organizationId).length > 0) act(1, () => void this.#readReport());
    act(0.5, () => {
      // Mostly there is nothing to do.
      if (random.chance(0.1)) void this.#setAccount(this.#world.newId("Acme").replace("_", " "));
    });
  }

  /** Records what the bank has returned and nobody has read yet. */
  async finish(): Promise<void> {
    for (const line of this.#bank.statement(this.#organizationId)) await this.#record(line);
  }

  #isWaiting({ organizationId, numberKind, state, transactionId }: StoredPayment): boolean {
    const heldFor = this.#world.disk.transactions.get(transactionId)?.heldFor ?? [];
    const isOwn = organizationId === this.#organizationId && numberKind === "BANK";
    // Sometimes somebody wants to pay what a person must release, or what is in a file.
    return isOwn && ((state === "READY" && heldFor.length === 0) || (state !== "ENDED" && this.#isCareless));
  }

  async #propose(payments: readonly StoredPayment[]): Promise<void> {
    const day = nairobiDayOf(this.#world.now);
    const sorted = payments.toSorted((one, other) => (one.transactionId < other.transactionId ? -1 : 1));
    const id = bankFileId(
      hashOf(JSON.stringify([this.#organizationId, day, sorted.map((each) => each.transactionId)])),
    );
    const bytes = this.#bytesOf({ id, day }, payments);
    const railAccountId = bankAccountOf(this.#organizationId);
    const railRevision = this.#world.disk.railRevision(railAccountId);
    const collected = sorted.map(({ transactionId, amountCents }) => ({ transactionId, amountCents }));
    const file = { id, day, sha256: hashOf(bytes), railAccountId, railRevision };
    const proposed = { command: collectBankFile(this.#organizationId, collected, file), bytes };
    this.#proposed.push(proposed);
    await this.#decide(proposed, this.#world.random.pick(PERSONS));
  }

  /** The same command of two persons gives the payments to the bank. */
  async #decide(proposed: Proposed, person: string): Promise<void> {
    const { id } = proposed.command;
    const done = await this.#commit({ ...proposed.command, ...by(person) });
    const isApproved = this.#detailsOf("bank_file.approved").some((detail) => detail.startsWith(`["${id}"`));
    if (isApproved && !this.#approved.has(id)) this.#approved.set(id, proposed);
    this.#world.tally.count("bank", `${isApproved ? "approved" : "proposed"}: ${done}`);
  }

  /** Makes the bytes once more. They must be those that were approved. */
  async #download({ command, bytes }: Proposed): Promise<void> {
    const { id, day, payments } = command;
    const inFile = this.#world.payments.all().filter(({ railReference, state }) => {
      return String(railReference) === id && state !== "ENDED";
    });
    if (inFile.length < payments.length) return;
    const again = this.#bytesOf({ id, day }, inFile);
    if (again !== bytes) this.#world.violated(`the bytes of the payment file ${id}`, bytes, again);
    const done = await this.#commit({ ...downloadBankFile(this.#organizationId, id), ...by("opr_c") });
    this.#world.tally.count("bank", `download: ${done}`);
    if (done === "done") this.#copies.push(again);
  }

  async #lose({ command: { id } }: Proposed): Promise<void> {
    for (const person of PERSONS) {
      const done = await this.#commit({ ...reportBankFileLost(this.#organizationId, id), ...by(person) });
      this.#world.tally.count("bank", `lost: ${done}`);
    }
  }

  /** Brings a statement to the ledger, which can have been read before. */
  async #readStatement(): Promise<void> {
    const { random, disk } = this.#world;
    const lines = this.#bank.statement(this.#organizationId);
    const isKnown = random.chance(0.8);
    const results = lines.flatMap(({ direction, transactionId, receipt, cents }) => {
      const isOpen = disk.transactions.get(transactionId)?.status === "PROCESSING";
      return direction === "out" && (isOpen || !isKnown) ? [[transactionId, receipt, cents] as const] : [];
    });
    for (const person of random.chance(0.7) && results.length > 0 ? PERSONS : []) {
      const done = await this.#commit(resolveTransactions(this.#organizationId, results, { person }));
      this.#world.tally.count("bank", `statement: ${done}`);
    }
    if (random.chance(0.5)) await this.#record(random.pick(lines));
  }

  /** A payment that comes back is a deposit, which waits for a person. */
  async #record({ direction, receipt, cents }: StatementLine): Promise<void> {
    if (direction === "out") return;
    for (const person of PERSONS) {
      const amountCents = cents;
      const done = await this.#commit(recordDeposit(this.#organizationId, { receipt, amountCents, person }));
      this.#world.tally.count("bank", `return: ${done}`);
    }
  }

  /** Ends what the bank has refused. */
  async #readReport(): Promise<void> {
    const id = this.#world.random.pick(this.#bank.refused(this.#organizationId));
    for (const person of PERSONS) {
      const done = await this.#commit(resolve(this.#organizationId, id, { kind: "FAILED" }, { person }));
      this.#world.tally.count("bank", `refused: ${done}`);
    }
  }

  async #setAccount(holder: string): Promise<void> {
    const settings = JSON.stringify({
      place: PLACE,
      bankCode: "01",
      branchCode: "100",
      account: "1100998877",
      holder,
      form: "pain.001.001.09",
      limits: { min: "0.01", max: "20000000.00" },
    });
    const accountsOfAll = railAccountsText(this.#world.disk.railAccountsOfCells);
    const given = { railAccountId: bankAccountOf(this.#organizationId), rail: BANK_RAIL, settings };
    const facts = { accountsOfAll, movesPlace: true };
    const done = await this.#commit(setRailAccount(this.#organizationId, { ...given, facts }));
    this.#world.tally.count("bank", `account: ${done}`);
  }

  #bytesOf(
    { id, day }: { readonly id: BankFileId; readonly day: NairobiDay },
    payments: readonly StoredPayment[],
  ): string {
    const { disk } = this.#world;
    const account = bankAccountOf(this.#organizationId);
    const settings = disk.railSettings(account, disk.railRevision(account)) ?? "";
    const rail = new BankRail(SETTINGS.parse(JSON.parse(settings)));
    const createdAt = toUnixMillis(
      Math.max(...payments.map(({ transactionId }) => disk.transactions.get(transactionId)?.createdAt ?? 0)),
    );
    const written = payments.map(({ transactionId, amountCents, number }) => {
      return { transactionId, amountCents, number: number as BankNumber };
    });
    return rail.writeFile({ id, day, createdAt, payments: written }).toString("utf8");
  }

  #detailsOf(wanted: string): readonly string[] {
    const rows = this.#world.disk.journalAfter(this.#organizationId, 0);
    return rows.flatMap(({ kind, detail }) => (kind === wanted ? (detail ?? "") : []));
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
