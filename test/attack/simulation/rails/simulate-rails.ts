import type { Command, PaymentCommand } from "../../../../src/domain/operations.js";
import { NEVER_DUE, type RailReceipt, type Resolution } from "../../../../src/domain/payment.js";
import { BANK_RAIL } from "../../../../src/domain/transaction.js";
import { OPERATOR } from "../../../../src/domain/values/actor.js";
import { type Cents, formatCents, MAX_CENTS, toCents } from "../../../../src/domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { commitBatch } from "../../../../src/ledger/commit-batch.js";
import { railAccountsText } from "../../../../src/ledger/ports/store.js";
import type { StoredPayment } from "../../../../src/settlement/ports/payments.js";
import { SLOW_RAIL } from "../../../support/names.js";
import {
  createAccount,
  createDestination,
  freezeAccount,
  setLimits,
  unfreezeAccount,
} from "../../../support/operations/accounts.js";
import { PAYEE } from "../../../support/operations/bank-files.js";
import { setPayoutCheck } from "../../../support/operations/payouts.js";
import { setRailAccount } from "../../../support/operations/rails.js";
import { cancel, completePayment, mint, redeem, resolve } from "../../../support/operations/transactions.js";
import { Random } from "../../random.js";
import { checkBooks } from "../checks/check-books.js";
import { ORGANIZATIONS } from "../disks/disk.js";
import { MemoryDisk } from "../disks/memory-disk.js";
import type { Tally } from "../report/tally.js";
import type { Trace } from "../report/trace.js";
import { mustBe, Violation } from "../report/violation.js";
import { apartUnderFlagOf, checkParting, checkUnclear, type Truth } from "./check-parting.js";
import { checkPayouts, type HoldRules } from "./check-payouts.js";
import { accountOf, FUNDS_CENTS, payeeOf, railAccountOf, termsOf, tillOf } from "./given-organization.js";
import { HeldDesk } from "./held-desk.js";
import { ListKeeper } from "./list-keeper.js";
import { MemoryInbox } from "./memory-inbox.js";
import { MemoryLeases } from "./memory-leases.js";
import { MemoryPayments } from "./memory-payments.js";
import { MemoryPayoutFiles } from "./memory-payout-files.js";
import { PayoutTeam } from "./payout-team.js";
import { type Commit, type May, NO_RAIL_FAULTS, type RailFaults, RailWorld } from "./rail-world.js";
import { SettlingServer } from "./settling-server.js";
import { SimulatedBank } from "./simulated-bank.js";
import { SimulatedRail } from "./simulated-rail.js";
import { Treasurer } from "./treasurer.js";

const HOUR_MILLIS = 3_600_000;
const STEPS_MAX = 20_000;
const SERVERS_MAX = 3;
const ORDERS_MAX = 6;
// The faults end some time after the last order was accepted.
const FAULTY_MILLIS_MAX = 20 * 60_000;
// Until then every outcome that nobody knows must have been flagged.
const UNKNOWN_MILLIS_MAX = 62 * HOUR_MILLIS;
const SKEW_MILLIS_MAX = 1_500;

/**
 * One run of the settlements of several servers over one rail, and of their runners of payouts. The
 * seed decides what the rail does with each order, who crashes where, and which messages come. It
 * also decides which files people propose, approve, stop and lose, and what a bank makes of them.
 * Then everything heals and comes to rest. At last a person resolves what is flagged, and the book
 * must say what the rail and the bank have moved.
 *
 * Throws a Violation where something does not hold.
 */
export async function simulateRails(seed: number, { tally, trace }: { tally: Tally; trace: Trace }): Promise<void> {
  const random = new Random(seed);
  const organizations = ORGANIZATIONS.slice(0, 1 + random.below(2));
  let now = (): number => 0;
  const disk = new MemoryDisk(organizations, () => world.now);
  const payments = new MemoryPayments(disk);
  const [inbox, payoutFiles] = [new MemoryInbox(), new MemoryPayoutFiles(disk)];
  const given = { random, tally, trace, disk, payments, inbox, payoutFiles };
  const world: RailWorld = new RailWorld({ ...given, leasesBy: (clock) => new MemoryLeases((now = clock)) });
  mustBe("the time at the begin", 0, now());
  await new RailRun(world, organizations).run();
}

class RailRun {
  readonly #world: RailWorld;
  readonly #organizations: readonly OrganizationId[];
  readonly #rail: SimulatedRail;
  readonly #bank: SimulatedBank;
  /** What the rail and the bank have moved. */
  readonly #truth: Truth;
  readonly #servers: readonly SettlingServer[];
  readonly #desk: HeldDesk;
  readonly #teams: ReadonlyMap<OrganizationId, PayoutTeam>;
  /** Those of the organizations that pay to banks. */
  readonly #treasurers: ReadonlyMap<OrganizationId, Treasurer>;
  /** Those of the organizations that have a list of payouts that are held. */
  readonly #keepers: ReadonlyMap<OrganizationId, ListKeeper>;
  readonly #rules = new Map<OrganizationId, HoldRules>();
  /** The organizations whose service is asked before a payout leaves. */
  readonly #checks = new Set<OrganizationId>();
  #ordersLeft: number;
  #healsAt = Infinity;

  constructor(world: RailWorld, organizations: readonly OrganizationId[]) {
    const { random } = world;
    this.#world = world;
    this.#organizations = organizations;
    // A message is believed up to a limit. Where somebody forges messages, no limit may be set.
    const forges = random.chance(0.7);
    const confirmAboveCents = forges ? 0 : random.pick([0, 30_000, MAX_CENTS]);
    const rail = new SimulatedRail(world, { forges });
    this.#rail = rail;
    this.#servers = Array.from({ length: 1 + random.below(SERVERS_MAX) }, (_, index) => {
      return new SettlingServer(world, { rail, name: `server ${String(index + 1)}`, confirmAboveCents });
    });
    this.#ordersLeft = 1 + random.below(ORDERS_MAX);
    this.#bank = new SimulatedBank(world);
    this.#truth = truthOf(rail, this.#bank);
    const commit: Commit = (...commands) => this.#commit(...commands);
    this.#desk = new HeldDesk(world, commit);
    this.#treasurers = new Map(
      organizations
        .filter(() => random.chance(0.5))
        .map((id) => [id, new Treasurer(world, { organizationId: id, bank: this.#bank, commit })]),
    );
    this.#teams = new Map(
      organizations.map((id) => {
        const given = { paysBanks: this.#treasurers.has(id), isIdle: random.chance(0.5) };
        return [id, new PayoutTeam(world, { organizationId: id, commit, ...given })];
      }),
    );
    this.#keepers = new Map(
      organizations.filter(() => random.chance(0.4)).map((id) => [id, new ListKeeper(world, id, commit)]),
    );
    world.faults = faultsOf(random);
  }

  async run(): Promise<void> {
    for (const organizationId of this.#organizations) await this.#open(organizationId);
    await this.#play();
    await this.#resolveAll();
    for (const treasurer of this.#treasurers.values()) await treasurer.finish();
    this.#world.throwViolation();
    checkBooks(this.#world.disk, this.#world.disk.books());
    for (const organizationId of this.#organizations) this.#judge(organizationId);
  }

  async #play(): Promise<void> {
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      if (this.#isAtRest()) return;
      const actions: { weight: number; run: () => void }[] = [];
      this.#offer((weight, run) => {
        if (weight > 0) actions.push({ weight, run });
      });
      this.#world.random.pickWeighted(actions).run();
      // Settles every promise that the step has made ready.
      await new Promise(setImmediate);
      this.#world.throwViolation();
      checkParting(this.#world, this.#truth);
      checkUnclear(this.#world);
      this.#world.tally.count("steps", "steps");
    }
    const open = this.#world.payments.all().filter((payment) => !this.#isSettled(payment));
    throw new Violation("the steps of a run", "an end", { open, messages: this.#world.inbox.open });
  }

  #offer(may: May): void {
    const { random, millis, events } = this.#world;
    let steps = 0;
    const mayNow: May = (weight, run) => {
      if (weight > 0) steps += 1;
      may(weight, run);
    };
    for (const server of this.#servers) server.offer(mayNow, may);
    for (const event of events) {
      if (event.at > millis) continue;
      mayNow(10, () => {
        this.#world.note("world", () => event.what);
        this.#world.happen(event);
      });
    }
    for (const person of this.#people) person.offer(mayNow);
    this.#offerHeld(mayNow);
    if (this.#ordersLeft > 0) {
      mayNow(2, () => {
        this.#ordersLeft -= 1;
        this.#order();
      });
      mayNow(1, () => {
        this.#disturb();
      });
    }
    // The network is slow, but no request arrives after more than it takes.
    const isLate = events.some(({ at }) => at <= millis);
    const isIdle = steps === 0;
    may(isIdle ? 10 : isLate ? 0 : 0.5, () => {
      this.#world.millis = isIdle || random.chance(0.5) ? this.#nextTime() : millis + random.below(5_000);
      if (this.#world.millis >= this.#healsAt) this.#heal();
    });
  }

  /** Persons decide about held payouts, in the end about each. */
  #offerHeld(may: May): void {
    const held = this.#organizations.flatMap((organizationId) => this.#desk.maybeHeld(organizationId));
    if (held.length === 0) return;
    const checked = held.filter(({ organizationId }) => this.#checks.has(organizationId));
    if (checked.length > 0) {
      may(this.#isHealed ? 5 : 1, () => {
        void this.#desk.check(this.#world.random.pick(checked));
      });
    }
    may(this.#isHealed ? 5 : 0.5, () => {
      void this.#desk.decide(this.#world.random.pick(held), { isLast: this.#isHealed });
    });
  }

  /** The next moment at which something can happen. */
  #nextTime(): number {
    const { millis, events, payments, inbox, now } = this.#world;
    const begin = now - millis;
    // A person takes a payment to a bank in a file, and no server.
    const isOpen = ({ state, dueAt, numberKind }: StoredPayment): boolean =>
      state !== "ENDED" && dueAt !== NEVER_DUE && !(state === "READY" && numberKind === "BANK");
    const dueTimes = [...payments.all().filter(isOpen), ...inbox.open].map(({ dueAt }) => dueAt - begin);
    const isBusy = dueTimes.some((at) => at <= millis + SKEW_MILLIS_MAX);
    const times = [
      ...events.map(({ at }) => at),
      ...this.#servers.flatMap((server) => server.nextTimes(isBusy)),
      ...dueTimes,
      ...this.#people.flatMap(({ nextAt }) => nextAt ?? []),
      this.#healsAt,
    ];
    const next = Math.min(...times.filter((at) => at > millis));
    return Number.isFinite(next) ? next : millis + HOUR_MILLIS;
  }

  #isAtRest(): boolean {
    const { payments, inbox, events, payoutFiles } = this.#world;
    if (this.#ordersLeft > 0 || !this.#isHealed || events.length > 0 || inbox.open.length > 0) return false;
    if (this.#people.some(({ nextAt }) => nextAt !== undefined) || payoutFiles.isOpen) return false;
    if (this.#organizations.some((organizationId) => this.#desk.held(organizationId).length > 0)) return false;
    return payments.all().every((payment) => this.#isSettled(payment));
  }

  get #people(): readonly (PayoutTeam | Treasurer | ListKeeper)[] {
    return [...this.#teams.values(), ...this.#treasurers.values(), ...this.#keepers.values()];
  }

  get #isHealed(): boolean {
    return this.#world.faults === NO_RAIL_FAULTS;
  }

  /** Whether only a person can know more of the payment. */
  #isSettled({ state, begunAt, isFlagged, numberKind }: StoredPayment): boolean {
    if (state === "ENDED" || (begunAt === undefined && isFlagged)) return true;
    if (state === "READY" && numberKind === "BANK") return true;
    const isOld = begunAt !== undefined && this.#world.now - begunAt > UNKNOWN_MILLIS_MAX;
    return isOld && isFlagged;
  }

  #heal(): void {
    this.#world.note("everyone", () => "comes to rest: nothing goes wrong any more");
    this.#world.faults = NO_RAIL_FAULTS;
    this.#healsAt = Infinity;
    for (const organizationId of this.#organizations) {
      this.#world.setSuspended(organizationId, false);
      void this.#mendRail(organizationId);
    }
  }

  /** Somebody sets the right password, if the rail refuses the initiator. */
  async #mendRail(organizationId: OrganizationId): Promise<void> {
    while (this.#world.refuses(railAccountOf(organizationId))) await this.#changeRail(organizationId, false);
  }

  async #open(organizationId: OrganizationId): Promise<void> {
    const accountId = accountOf(organizationId);
    await this.#commit({ ...createAccount(organizationId, "user"), newAccountId: accountId });
    const till = createDestination(organizationId, accountId, { coolingMillis: 0 });
    await this.#commit({ ...till, newDestinationId: tillOf(organizationId) });
    const funds = { organizationId, accountId, amount: formatCents(toCents(FUNDS_CENTS)) };
    await this.#commit({ ...mint({ ...funds, reference: "funds" }), newTransactionId: this.#newTransactionId() });
    const treasurer = this.#treasurers.get(organizationId);
    if (treasurer !== undefined) {
      await treasurer.open();
      const payee = createDestination(organizationId, accountId, { kind: "BANK", number: PAYEE, coolingMillis: 0 });
      await this.#commit({ ...payee, newDestinationId: payeeOf(organizationId) });
    }
    const { random } = this.#world;
    if (random.chance(0.3)) {
      this.#checks.add(organizationId);
      await this.#commit(setPayoutCheck(organizationId, { noAnswer: random.pick(["HOLD", "ALLOW"]) }));
    }
    if (random.chance(0.5)) return;
    const amounts = [toCents(1), toCents(10_000), toCents(40_000)] as const;
    const rules = {
      ...(random.chance(0.7) ? { HELD_AMOUNT: random.pick(amounts) } : {}),
      ...(random.chance(0.3) ? { HELD_NEW_DESTINATION: random.pick(amounts) } : {}),
      ...(random.chance(0.3) ? { HELD_DAY: toCents(60_000) } : {}),
      ...(random.chance(0.2) ? { DAY: toCents(90_000) } : {}),
    };
    this.#rules.set(organizationId, rules);
    await this.#commit(setLimits(organizationId, { type: "REDEEM", changes: rules }));
  }

  /** A caller asks for a mint or a redemption. */
  #order(): void {
    const { random } = this.#world;
    const organizationId = random.pick(this.#organizations);
    const way = random.pick(["prompt", "prompt", "to a phone", "to a business"] as const);
    const isToBank = way !== "prompt" && this.#treasurers.has(organizationId) && random.chance(0.5);
    const rail = isToBank ? BANK_RAIL : SLOW_RAIL;
    const newTransactionId = this.#newTransactionId();
    const command = (way === "prompt" ? mint : redeem)({
      organizationId,
      accountId: accountOf(organizationId),
      amount: formatCents(toCents(1 + random.below(50_000))),
      reference: newTransactionId,
      rail,
      terms: termsOf(organizationId, rail),
    });
    if (!isToBank) this.#rail.accepted(newTransactionId, organizationId, way);
    const toBusiness = way === "to a business" ? tillOf(organizationId) : undefined;
    const destinationId = isToBank ? payeeOf(organizationId) : toBusiness;
    // Sometimes one batch sets a list and redeems.
    const list = random.chance(0.3) ? this.#keepers.get(organizationId)?.next() : undefined;
    void this.#commit(...(list === undefined ? [] : [list]), { ...command, destinationId, newTransactionId }).then(
      () => {
        if (random.chance(0.7)) for (const server of this.#servers) server.wake();
      },
    );
    if (this.#ordersLeft === 0) this.#healsAt = this.#world.millis + random.below(FAULTY_MILLIS_MAX);
  }

  /**
   * A caller cancels an order or freezes the account for a while, or an operator suspends the
   * organization for a while or changes the account at the rail.
   */
  #disturb(): void {
    const { random, payments } = this.#world;
    if (random.chance(0.5)) {
      void this.#changeRail(random.pick(this.#organizations));
      return;
    }
    const payment = payments.all().at(-1);
    if (payment !== undefined && random.chance(0.5)) {
      void this.#commit(cancel(payment.organizationId, payment.transactionId));
      return;
    }
    const organizationId = random.pick(this.#organizations);
    if (random.chance(0.3)) {
      this.#world.tally.count("rail", "suspensions");
      this.#world.setSuspended(organizationId, true);
      this.#world.after(random.below(10 * 60_000), "the suspension ends", () => {
        this.#world.setSuspended(organizationId, false);
      });
      return;
    }
    const freeze = freezeAccount(organizationId, accountOf(organizationId));
    const newFreezeId = this.#world.newId("frz") as typeof freeze.newFreezeId;
    void this.#commit({ ...freeze, newFreezeId });
    this.#world.after(random.below(10 * 60_000), "the freeze ends", () => {
      // A suspension holds an API key, and no operator.
      void this.#commit({ ...unfreezeAccount(organizationId, freeze.accountId, newFreezeId), actor: OPERATOR });
    });
  }

  /** Sets the account: with another password alone, or with another shortcode as well. */
  async #changeRail(organizationId: OrganizationId, mayBeWrong = true): Promise<void> {
    const { random, disk } = this.#world;
    const id = railAccountOf(organizationId);
    const isMoved = random.chance(0.5);
    const settings = isMoved ? this.#world.newId("shortcode") : this.#world.shortcodeOf(id);
    // Sometimes the operator has read the accounts some time ago.
    const accountsOfAll = railAccountsText(disk.railAccountsOfCells);
    const facts = { accountsOfAll: random.chance(0.9) ? accountsOfAll : "0:0", movesPlace: isMoved };
    const command = { ...setRailAccount(organizationId, { railAccountId: id, settings }), facts };
    const done = await this.#commit(command);
    if (done === "done") this.#world.changedRail(id, mayBeWrong && random.chance(0.3));
    const what = isMoved ? "other shortcodes" : "other passwords";
    this.#world.tally.count("rail", done === "done" ? what : `${what}: ${done}`);
  }

  /** A person asks the rail about each order that is still open, and resolves it. */
  async #resolveAll(): Promise<void> {
    for (const { organizationId, transactionId, state, status, amountCents } of this.#world.payments.all()) {
      if (state === "ENDED") continue;
      if (status === "PENDING") {
        // Only somebody who forges messages knows of it. The rail was never asked.
        mustBe(
          `the cancellation of ${transactionId}`,
          "done",
          await this.#commit(cancel(organizationId, transactionId)),
        );
        continue;
      }
      const [first, ...more] = this.#truth.movedFor(transactionId);
      const resolution = resolutionOf(first, amountCents);
      this.#world.tally.count("rail", `resolved by a person: ${resolution.kind}`);
      // The account at the rail lets nobody decide alone.
      for (const person of ["amina", "brian"]) {
        const command = resolve(organizationId, transactionId, resolution, { person });
        const done = await this.#commit({
          ...command,
          facts: { ...command.facts, newTransactionId: this.#newTransactionId() },
        });
        mustBe(`the resolution of ${transactionId} by ${person}`, "done", done);
      }
      for (const each of more) {
        const report = { receipt: each.receipt, amountCents: each.cents };
        const late = {
          ...completePayment(organizationId, transactionId, report),
          newTransactionId: this.#newTransactionId(),
        };
        mustBe(`a second prompt of ${transactionId}`, "done", await this.#commit(late));
      }
    }
  }

  #judge(organizationId: OrganizationId): void {
    const { disk, tally } = this.#world;
    const { cents, receipts } = this.#truth.moved(organizationId);
    const { reserve, held } = disk.books().heads.get(organizationId)?.sums ?? { reserve: NaN, held: NaN };
    const apart = this.#world.payments
      .all()
      .filter((payment) => payment.organizationId === organizationId)
      .map((payment) => apartUnderFlagOf(this.#world, this.#truth, payment));
    tally.count("rail", "apart under a flag", apart.filter((each) => each !== 0).length);
    const apartCents = apart.reduce((sum, each) => sum + each, 0);
    mustBe(`what ${organizationId} moved over the rail`, cents - apartCents, reserve - FUNDS_CENTS);
    mustBe(`what ${organizationId} still holds`, 0, held);
    const booked = disk.journalAfter(organizationId, 0).flatMap(({ receipt }) => receipt ?? []);
    mustBe("receipts that the book has twice", booked.length, new Set(booked).size);
    mustBe(
      "receipts that the rail never gave",
      [],
      booked.filter((receipt) => !receipts.includes(receipt)),
    );
    tally.count("rail", "receipts checked", receipts.length);
    checkPayouts(this.#world, organizationId, {
      files: this.#teams.get(organizationId)?.files ?? [],
      rules: this.#rules.get(organizationId) ?? {},
      isChecked: this.#checks.has(organizationId),
      lists: this.#keepers.get(organizationId)?.lists ?? new Map(),
      movedFor: (id) => this.#truth.movedFor(id),
    });
  }

  /** Commits them in one batch. Returns the refusal of the last one, or else what was done. */
  async #commit(...commands: readonly Command[]): Promise<string> {
    const wasSuspended = new Set<Command>();
    const steps = {
      before: () => Promise.resolve(),
      committed: () => {
        for (const command of commands) {
          this.#world.note("caller", () => `COMMITTED ${command.name} ${(command as PaymentCommand).transactionId}`);
          if (this.#world.suspended.has(command.organizationId)) wasSuspended.add(command);
        }
      },
    };
    try {
      const results = await commitBatch(this.#world.disk.open().store(steps), commands, this.#world.now);
      for (const [index, command] of commands.entries()) {
        const result = results[index];
        const isDone = result?.kind === "done" && !result.replayed;
        if (isDone) this.#world.watchEffect(command, wasSuspended.has(command));
      }
      const result = results.at(-1);
      return result?.kind === "refused" ? result.refusal.reason : (result?.kind ?? "nothing");
    } catch (error) {
      // Most callers do not wait for the commit, so nobody would catch the error.
      const names = commands.map(({ name }) => name).join(", ");
      this.#world.violated(`the commit of ${names}`, "an answer", String(error));
      return "nothing";
    }
  }

  #newTransactionId(): TransactionId {
    return this.#world.newId("txn") as TransactionId;
  }
}

function truthOf(rail: SimulatedRail, bank: SimulatedBank): Truth {
  return {
    movedFor: (id) => (rail.knows(id) ? rail.movedFor(id) : bank.movedFor(id)),
    moved: (id) => {
      const [overRail, overBank] = [rail.moved(id), bank.moved(id)];
      return { cents: overRail.cents + overBank.cents, receipts: [...overRail.receipts, ...overBank.receipts] };
    },
  };
}

/** A person who asks the rail says what moved. */
function resolutionOf(first: { receipt: string; cents: Cents } | undefined, amountCents: Cents): Resolution {
  if (first === undefined) return { kind: "FAILED" };
  const receipt = first.receipt as RailReceipt;
  return first.cents === amountCents
    ? { kind: "COMPLETED", receipt }
    : { kind: "MOVED", receipt, amountCents: first.cents };
}

/** Half of all runs have no fault of a kind: a bug that only shows without it shows there. */
function faultsOf(random: Random): RailFaults {
  const some = (max: number): number => (random.chance(0.5) ? 0 : (max * (1 + random.below(10))) / 10);
  return {
    crash: some(1),
    shutdown: some(0.2),
    pause: some(0.3),
    unavailable: some(1),
    lostQueries: some(0.5),
    badQuestions: some(0.3),
    clockJump: some(0.3),
  };
}
