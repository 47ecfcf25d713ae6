import type { PaymentCommand, ResourceOf } from "../../../src/domain/operations.js";
import type { RailAccountId, Resolution } from "../../../src/domain/payment.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { type Cents, formatCents, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, DestinationId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { commitBatch } from "../../../src/ledger/commit-batch.js";
import type { Outcome } from "../../../src/ledger/ports/outcome.js";
import type { CallbackPurpose } from "../../../src/rails/callback-token.js";
import type { PaymentRail, RailReport } from "../../../src/rails/rail.js";
import { RailFaults } from "../../../src/settlement/faults.js";
import type { RailAccount } from "../../../src/settlement/ports/rail-accounts.js";
import type { SubmitWatch } from "../../../src/settlement/ports/runtime.js";
import type { SettlementEvent } from "../../../src/settlement/ports/runtime.js";
import { Settlement } from "../../../src/settlement/settlement.js";
import { MemoryDisk } from "../../attack/simulation/disks/memory-disk.js";
import { MemoryInbox } from "../../attack/simulation/rails/memory-inbox.js";
import { MemoryPayments } from "../../attack/simulation/rails/memory-payments.js";
import { newTransactionId, NOW, RAIL_TERMS, SLOW_RAIL } from "../../support/names.js";
import { createAccount, createDestination } from "../../support/operations/accounts.js";
import { mint, redeem, resolve } from "../../support/operations/transactions.js";
import { ManualTiming, settled } from "./manual-timing.js";
import { ScriptedRail } from "./scripted-rail.js";

export const MINUTE_MILLIS = 60_000;
export const HOUR_MILLIS = 60 * MINUTE_MILLIS;
const GRACE_MILLIS = 10_000;

const ORGANIZATION = "org_1" as OrganizationId;
const TILL = "dst_till" as DestinationId;
const FUNDS = "100000.00";

type Command = Parameters<typeof commitBatch>[1][number];

/** One book on a disk, a rail, and settlements over both, with a clock that the test moves. */
export class World {
  readonly timing = new ManualTiming();
  readonly disk = new MemoryDisk([ORGANIZATION]);
  readonly payments = new MemoryPayments(this.disk);
  readonly inbox = new MemoryInbox();
  readonly rail = new ScriptedRail();
  readonly events: SettlementEvent[] = [];
  readonly accounts = new Map<RailAccountId, RailAccount>();
  readonly settlements: Settlement[] = [];
  /** For how long the lease of each settlement lasts. */
  leaseLeftMillis = Infinity;
  /** Changes what the ledger answers. */
  intercept: (command: PaymentCommand, commit: () => Promise<Outcome<Transaction>>) => Promise<Outcome<Transaction>> = (
    _command,
    commit,
  ) => commit();
  readonly submitted: PaymentCommand["name"][] = [];
  /** The payouts of unknown outcome that the ledger was told to warn of. */
  readonly watched: (number | undefined)[] = [];
  /** What the ledger was told that the rail refuses. */
  readonly refusals: object[] = [];
  /** Reads the rail accounts again, in place of the directory. */
  refresh: () => Promise<void> = () => Promise.resolve();
  accountId!: AccountId;
  #references = 0;

  constructor() {
    this.addRailAccount(RAIL_TERMS.railAccountId, this.rail);
  }

  addRailAccount(id: RailAccountId, rail: PaymentRail, given: Partial<RailAccount> = {}): void {
    this.accounts.set(id, {
      id,
      organizationId: ORGANIZATION,
      rail,
      payouts: "auto",
      beginWithinMillis: 2 * MINUTE_MILLIS,
      confirmAboveCents: 0,
      resolveAloneMaxCents: 0,
      revision: 0,
      changedAt: toUnixMillis(NOW - MINUTE_MILLIS),
      refused: undefined,
      isUntried: false,
      ...given,
    });
  }

  /** Changes the settings of the default rail account. */
  set(given: Partial<RailAccount>): void {
    this.addRailAccount(RAIL_TERMS.railAccountId, this.rail, given);
  }

  async open(): Promise<void> {
    this.accountId = await this.newAccount("user");
  }

  async newAccount(userId: string): Promise<AccountId> {
    const command = createAccount(ORGANIZATION, userId);
    await this.commit(command);
    const accountId = command.newAccountId;
    await this.commit(mint({ ...this.#movement(accountId), amount: FUNDS, rail: "direct" as typeof SLOW_RAIL }));
    return accountId;
  }

  mint(given: Order = {}): Promise<TransactionId> {
    return this.#accept("mint", given);
  }

  mintFrom(payer: string): Promise<TransactionId> {
    return this.#accept("mint", { payer });
  }

  redeem(given: Order = {}): Promise<TransactionId> {
    return this.#accept("redeem", given);
  }

  /** Redeems to a till. */
  async payTill(): Promise<TransactionId> {
    const till = createDestination(ORGANIZATION, this.accountId, { coolingMillis: 0, newDestinationId: TILL });
    // A second time it is a replay.
    await this.commit(till);
    return this.redeem({ destinationId: TILL });
  }

  /** Commits a command. Throws if it is refused. */
  /** Resolves an order by two persons: nobody decides alone. */
  async resolve(id: TransactionId, resolution: Resolution): Promise<void> {
    for (const person of ["amina", "brian"])
      await this.commit(resolve(this.organizationId, id, resolution, { person }));
  }

  async commit(command: Command): Promise<void> {
    const [result] = await this.#commit(command);
    if (result?.kind !== "done") throw new Error(JSON.stringify(result));
  }

  newSettlement(): Settlement {
    const settlement = new Settlement({
      payments: this.payments,
      inbox: this.inbox,
      railAccounts: { account: (id) => this.accounts.get(id), refresh: () => this.refresh() },
      closePayouts: (account) => {
        this.accounts.set(account.id, { ...account, payouts: "closed" });
        return Promise.resolve();
      },
      lease: { leftMillis: () => this.leaseLeftMillis },
      submit: (command, deadline) => this.#submit(command, deadline),
      submitWatch: this.#submitWatch,
      faults: new RailFaults({
        submitWatch: this.#submitWatch,
        timing: this.timing,
        onEvent: (event) => this.events.push(event),
      }),
      newTransactionId,
      timing: this.timing,
      onEvent: (event) => this.events.push(event),
    });
    this.settlements.push(settlement);
    return settlement;
  }

  /** Starts a settlement, and lets it do what is due. */
  async start(): Promise<Settlement> {
    const settlement = this.newSettlement();
    settlement.start();
    await settled();
    return settlement;
  }

  async stop(): Promise<void> {
    const stopped = Promise.all(this.settlements.map((settlement) => settlement.stop(GRACE_MILLIS)));
    await this.timing.pass(GRACE_MILLIS);
    await stopped;
    for (const event of this.events) if (event.kind === "error") throw event.error;
  }

  /** Lets time pass. In hours, nobody looks at every half second. */
  pass(millis: number): Promise<void> {
    return this.timing.pass(millis, millis < HOUR_MILLIS ? 0 : MINUTE_MILLIS);
  }

  async message(
    transactionId: TransactionId,
    report: RailReport | string,
    purpose: CallbackPurpose = "collect",
  ): Promise<void> {
    const body = typeof report === "string" ? report : JSON.stringify(report);
    await this.inbox.add({ transactionId, purpose, body }, this.timing.now());
    for (const settlement of this.settlements) settlement.wake();
    await settled();
  }

  /** The state of the payment, and the status of its transaction with its flags. */
  stateOf(id: TransactionId): string {
    const [payment, transaction] = [this.payments.find(id), this.disk.transactions.get(id)];
    return [payment?.state, transaction?.status, ...(transaction?.openFlags ?? [])].join(" ");
  }

  transaction(id: TransactionId): Transaction | undefined {
    return this.disk.transactions.get(id);
  }

  /** What came in over rails, less what went out, by the book. */
  get movedCents(): number {
    const rows = this.disk.journalAfter(ORGANIZATION, 0);
    return rows
      .filter(({ transactionId }) => this.disk.transactions.get(String(transactionId))?.rail === SLOW_RAIL)
      .reduce((sum, { posting }) => {
        if (posting?.debit === "reserve") return sum + posting.amountCents;
        return posting?.credit === "reserve" ? sum - posting.amountCents : sum;
      }, 0);
  }

  get heldCents(): number {
    return this.disk.books().heads.get(ORGANIZATION)?.sums.held ?? NaN;
  }

  get organizationId(): OrganizationId {
    return ORGANIZATION;
  }

  async #accept(name: "mint" | "redeem", order: Order): Promise<TransactionId> {
    const { cents = toCents(100_00), railAccountId = RAIL_TERMS.railAccountId, accountId = this.accountId } = order;
    const payerPhoneNumber = order.payer as PhoneNumber | undefined;
    const terms = { railAccountId, payerPhoneNumber, destinations: { TILL: RAIL_TERMS.payable } };
    const given = { ...this.#movement(accountId), amount: formatCents(cents), terms };
    const command = name === "mint" ? mint(given) : redeem(given);
    await this.commit({ ...command, destinationId: order.destinationId });
    return command.newTransactionId;
  }

  #movement(accountId: AccountId): Omit<Parameters<typeof mint>[0], "amount"> & { rail: typeof SLOW_RAIL } {
    this.#references += 1;
    return { organizationId: ORGANIZATION, accountId, reference: `r${String(this.#references)}`, rail: SLOW_RAIL };
  }

  async #submit<C extends PaymentCommand>(command: C, deadline: UnixMillis): Promise<Outcome<ResourceOf<C>>> {
    if (deadline <= this.timing.now()) return { kind: "refused", refusal: { reason: "DEADLINE_EXCEEDED" } };
    this.submitted.push(command.name);
    return this.intercept(command, async () => {
      const [result] = await this.#commit(command);
      if (result === undefined || result.kind === "bug") throw new Error("no result", { cause: result });
      return result as Outcome<Transaction>;
    }) as Promise<Outcome<ResourceOf<C>>>;
  }

  readonly #submitWatch: SubmitWatch = ({ unknownPayouts, refusedCredential, refusedRequest }) => {
    if (refusedCredential === undefined && refusedRequest === undefined) this.watched.push(unknownPayouts);
    this.refusals.push(...[refusedCredential, refusedRequest].flatMap((each) => each ?? []));
    return Promise.resolve({ kind: "done", resource: {} as never, replayed: false });
  };

  #commit(command: Command): ReturnType<typeof commitBatch> {
    const steps = { before: () => Promise.resolve(), committed: () => undefined };
    return this.#alone(() => commitBatch(this.disk.open().store(steps), [command], this.timing.now()));
  }

  #last: Promise<unknown> = Promise.resolve();

  /** One batch after the other, as a committer does. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

interface Order {
  readonly cents?: Cents;
  readonly railAccountId?: RailAccountId;
  readonly accountId?: AccountId;
  readonly payer?: string;
  readonly destinationId?: DestinationId;
}
