import { deepStrictEqual } from "node:assert/strict";

import { expect } from "chai";
import fc from "fast-check";

import { type BookState, MAX_SUM_CENTS, NO_SUMS } from "../../../src/domain/book.js";
import type { EndReturn } from "../../../src/domain/deposits/end-return.js";
import type { ReceiveDeposit } from "../../../src/domain/deposits/receive-deposit.js";
import { LIMIT_PERIODS } from "../../../src/domain/limits/limits.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import { type Command, type DepositCommand } from "../../../src/domain/operations.js";
import type { Resolution } from "../../../src/domain/payment.js";
import type { Decider } from "../../../src/domain/proposal.js";
import type { RecordCharge } from "../../../src/domain/rails/record-charge.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { type Cents, formatCents, MAX_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import {
  advancePayment,
  assignDeposit,
  beginPayment,
  cancel,
  clearFlag,
  closeAccount,
  completePayment,
  correctBook,
  createAccount,
  depositReference,
  endReturn,
  eraseAccount,
  failPayment,
  flag,
  freezeAccount,
  mint,
  newAccountId,
  newDepositId,
  newFreezeId,
  newProposalId,
  newTransactionId,
  receiptNamed,
  receiveDeposit,
  recordCharge,
  recordDeposit,
  redeem,
  resolve,
  returnDeposit,
  returnThroughRail,
  reverse,
  reverseDeposit,
  setAccountTier,
  setLimits,
  SLOW_RAIL,
  unassignDeposit,
  unfreezeAccount,
  updateAccount,
} from "../../support/commands.js";
import { ENGINES, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { MODELLED } from "../../support/modelled.js";
import { byStage, SEED, STAGE } from "../../support/stage.js";
import { unallocatedOf } from "./deposits-model.js";
import { LedgerUnderTest } from "./ledger-under-test.js";
import { ANSWER_WORDS, Model, type State } from "./model.js";
import type { Answer, ModelDeposit, ModelTransaction } from "./rows.js";

// Sends random commands in random groups to three ledgers: the one on SQLite, the one on PostgreSQL
// and the model. All must agree on every answer and every balance. Between two groups the clock of
// all three jumps forth or back, a book may begin to move, and an organization may be suspended.

// These runs are the same each time, so that what they meet does not depend on chance.
const FIXED = { numRuns: byStage({ test: 12, check: 60 }), seed: 1 };
// `make nightly` adds others each time, as many as the time allows.
const RANDOM = { numRuns: 400, interruptAfterTimeLimit: 300_000, seed: SEED };
const TIMEOUT_MILLIS = 600_000;
const FULL = "full" as OrganizationId;
const ORGANIZATIONS = ["first", "second", FULL] as OrganizationId[];
/** The organization that has limits from the beginning. */
const LIMITED = "second" as OrganizationId;
// The sums of the organization FULL are below their limit by this much: a mint or two fit.
const ROOM_CENTS = 400;
const ANY_SEQ = 2;
// The clock begins in the past: PostgreSQL's own clock refuses one that is ahead of it.
// All days of a run together are fewer.
const CLOCK_BEGINS_BEHIND_MILLIS = 400 * 86_400_000;
const TIERS_MAX = 20;
const FREEZES_MAX = 20;

// There are few values of each kind, so that commands meet again.
const organizationId = fc.constantFrom("first", "first", "second", "second", FULL) as fc.Arbitrary<OrganizationId>;
const user = fc.constantFrom("ann", "ben");
const rarely = fc.integer({ min: 1, max: 16 }).map((dice) => dice === 16);
const key = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom("k1", "k2", "k3", "k4", "k5", "k6") },
);
const amountCents = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: MAX_CENTS - 300, max: MAX_CENTS }) },
);

/** Steps of one kind, and how often they are among all. */
const weighted = <Step>(weight: number, fields: { [Name in keyof Step]: fc.Arbitrary<Step[Name]> }) => ({
  weight,
  arbitrary: fc.record(fields),
});

const step = fc.oneof(
  weighted(3, { name: fc.constant("createAccount"), organizationId, user, key, otherPhone: rarely }),
  weighted(10, {
    name: fc.constantFrom("mint", "mint", "redeem"),
    organizationId,
    user,
    ofStranger: rarely,
    amountCents,
    reference: fc.nat(40),
    described: rarely,
    rail: fc.constantFrom(DIRECT_RAIL, SLOW_RAIL),
    stepCents: fc.constantFrom(1, 1, 1, 1, 5),
    phoneCoolingMillis: fc.constantFrom(0, 600_000),
    key,
  }),
  weighted(4, {
    name: fc.constantFrom("closeAccount", "eraseAccount", "eraseAccount", "updateAccount", "updateAccount"),
    organizationId,
    user,
    ofStranger: rarely,
  }),
  weighted(1, {
    name: fc.constant("freezeAccount"),
    organizationId,
    user,
    ofStranger: rarely,
    reason: fc.constantFrom("FRAUD", "COURT_ORDER"),
    key,
  }),
  weighted(2, {
    name: fc.constant("unfreezeAccount"),
    organizationId,
    user,
    ofStranger: rarely,
    ofOtherAccount: rarely,
    age: fc.nat(2),
  }),
  weighted(2, { name: fc.constant("cancelTransaction"), organizationId, ofStranger: rarely, age: fc.nat(4) }),
  weighted(3, {
    name: fc.constant("reverseTransaction"),
    organizationId,
    ofStranger: rarely,
    age: fc.nat(3),
    described: fc.boolean(),
    key,
  }),
  weighted(16, {
    name: fc.constantFrom(
      "beginPayment",
      "beginPayment",
      "acceptPayment",
      "postponePayment",
      "completePayment",
      "completePayment",
      "completePayment",
      "failPayment",
      "flagTransaction",
      "clearFlag",
      "resolveTransaction",
      "resolveTransaction",
    ),
    organizationId,
    ofStranger: rarely,
    age: fc.nat(3),
    movement: fc.constantFrom("own", "own", "m1", "m2", undefined),
    receipt: fc.constantFrom("own", "own", "r1", "r2", "r3", undefined),
    differs: fc.constantFrom(false, false, false, true),
    isNear: fc.boolean(),
    sends: fc.constantFrom(1, 1, 2),
    failure: fc.constantFrom("WRONG_PIN", "EXPIRED"),
    isAgain: fc.constantFrom(false, false, true),
    flag: fc.constantFrom("OUTCOME_UNKNOWN", "REPORT_DIFFERS", "NOT_CREDITED"),
    resolution: fc.constantFrom("COMPLETED", "FAILED", "MOVED"),
    person: fc.constantFrom("amina", "Amina", "brian"),
    isAgreed: fc.boolean(),
  }),
  weighted(2, {
    name: fc.constant("setLimits"),
    organizationId,
    tier: fc.constantFrom(undefined, "default", "small"),
    type: fc.constantFrom("MINT", "MINT", "REDEEM"),
    limit: fc.constantFrom("TRANSACTION", "DAY", "MONTH"),
    limitCents: fc.constantFrom("NONE", "NONE", 200, 1_000, 3_000, undefined),
  }),
  weighted(1, {
    name: fc.constant("setAccountTier"),
    organizationId,
    user,
    ofStranger: rarely,
    tier: fc.constantFrom("default", "small", "unknown"),
  }),
  weighted(5, {
    name: fc.constantFrom(
      "coverShortfall",
      "recoverShortfall",
      "allocate",
      "returnUnallocated",
      "bookReceipt",
      "bookPayment",
      "adjustMovement",
      "explainTransfer",
      "fundCharges",
    ),
    direction: fc.constantFrom("in", "out"),
    hasAccount: fc.boolean(),
    organizationId,
    user,
    ofStranger: rarely,
    amountCents: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }) },
      { weight: 1, arbitrary: fc.constantFrom(300, MAX_CENTS) },
    ),
    receipt: fc.constantFrom("r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"),
    key: fc.constantFrom("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"),
    person: fc.constantFrom("amina", "Amina", "brian"),
    isAgreed: fc.boolean(),
  }),
);
const deposits = fc.record({
  name: fc.constantFrom(
    "receiveDeposit",
    "receiveDeposit",
    "recordDeposit",
    "assignDeposit",
    "assignDeposit",
    "unassignDeposit",
    "returnDeposit",
    "returnThroughRail",
    "endReturn",
    "reverseDeposit",
    "recordCharge",
    "claim",
  ),
  organizationId,
  user,
  ofStranger: rarely,
  age: fc.nat(2),
  amountCents: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 99 }) },
    { weight: 1, arbitrary: amountCents },
  ),
  receipt: fc.constantFrom("own", "own", "own", "d1", "d2", "r1", "r2"),
  typed: fc.constantFrom("", "rent", "0", "0", "1", "order", "order"),
  isConfirmed: fc.boolean(),
  isNear: fc.boolean(),
  hasAccount: fc.boolean(),
  isFirst: fc.boolean(),
});
type DepositStep = typeof deposits extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const group = fc.record({
  jumpMillis: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -2_000, max: 5_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: -90_000, max: 90_000 }) },
    // Another day, or another month.
    { weight: 1, arbitrary: fc.constantFrom(24 * 3_600_000, 32 * 24 * 3_600_000) },
  ),
  state: fc.constantFrom<BookState[]>("OPEN", "OPEN", "OPEN", "OPEN", "OPEN", "MOVING", "RESTORED", "RESTORED"),
  isSuspended: rarely,
  steps: fc.array(fc.oneof({ weight: 6, arbitrary: step }, { weight: 1, arbitrary: deposits }), {
    minLength: 1,
    maxLength: 24,
    size: "max",
  }),
});
const groups = fc.array(group, { maxLength: 12, size: "max" });

/** The caller, and whether it names a thing of another organization. */
interface Whose {
  readonly organizationId: OrganizationId;
  readonly ofStranger: boolean;
}

/** A command, and the model's answer to it. */
interface Answered {
  readonly command: Command;
  readonly answer: Answer;
}

describe("the ledger, against the model", function () {
  this.timeout(TIMEOUT_MILLIS);
  let databases: TestDatabase[] = [];

  before(async () => {
    databases = await Promise.all(ENGINES.map((engine) => openTestDatabase(engine)));
  });
  after(async () => {
    await Promise.all(databases.map((each) => each.dispose()));
  });

  it("gives the model's answers and keeps its balances on both engines, in batches of any size", async () => {
    const answersMet = new Set<string>();
    const operationsDone = new Set<string>();
    const property = fc.asyncProperty(groups, fc.integer({ min: 1, max: 8 }), async (stepGroups, batchMax) => {
      const clock = new Clock();
      const ledgers = await Promise.all(
        databases.map((each) =>
          LedgerUnderTest.over(each, { organizations: ORGANIZATIONS, now: () => clock.now, batchMax }),
        ),
      );
      const model = await modelOf(ledgers, clock);
      const all: Answered[] = ORGANIZATIONS.flatMap((each) =>
        prologueOf(each).map((command) => answered(model, command, clock)),
      );
      try {
        await agree(ledgers, model, all);
        all.push(...(await beginInRestoredBook({ ledgers, model, clock })));
        for (const { jumpMillis, state, isSuspended, steps } of stepGroups) {
          clock.jump(jumpMillis);
          await setState("first" as OrganizationId, state, { ledgers, model });
          await setSuspended("second" as OrganizationId, isSuspended, { ledgers, model });
          const together = steps.flatMap((each) =>
            commandsOf(each, model).map((command) => answered(model, command, clock)),
          );
          await agree(ledgers, model, together);
          all.push(...together);
        }
        clock.jump(CLOCK_BEGINS_BEHIND_MILLIS);
        await setState("first" as OrganizationId, "OPEN", { ledgers, model });
        await setSuspended("second" as OrganizationId, false, { ledgers, model });
        await repeat(all, { ledgers, model, clock });
        await Promise.all(
          ledgers.map(async (ledger) => {
            for (const each of ORGANIZATIONS) await ledger.checkJournal(each, model.state(each).book?.lastSeq ?? 0);
          }),
        );
      } finally {
        await Promise.all(ledgers.map((ledger) => ledger.close()));
      }
      for (const { command, answer } of all) {
        answersMet.add(wordOf(answer));
        if (wordOf(answer) === "done") operationsDone.add(command.name);
      }
    });
    await fc.assert(property, { ...FIXED, unbiased: true });
    // The few runs of `make test` do not meet every answer.
    if (STAGE === "test") return;
    expect(answersMet).to.have.all.keys(...ANSWER_WORDS, LIMIT_OF_BOOK, ...LIMITS_THAT_WERE_SET);
    // What the models know is missing here until `step` and `commandOf` make its command. No rail
    // returns deposits here, and acts of several parts have a test of their own.
    const elsewhere: readonly string[] = ["endReturn", "recordDeposits", "resolveTransactions"];
    expect([...operationsDone]).to.have.members(MODELLED.filter((name) => !elsewhere.includes(name)));
    if (STAGE === "nightly") await fc.assert(property, { ...RANDOM, unbiased: true });
  });
});

/**
 * One account without money, and one with money and orders, so that most steps find what they are
 * about. One order was paid out although it had failed, which leaves a shortfall. One mint was
 * reversed.
 */
function prologueOf(organizationId: OrganizationId): readonly Command[] {
  const ann = createAccount(organizationId, "ann", { depositReferences: [depositReference(0)] });
  const given = { organizationId, accountId: ann.newAccountId };
  const ben = createAccount(organizationId, "ben");
  const payout = redeem({ ...given, reference: "a payout", amount: "0.60", rail: SLOW_RAIL });
  const id = payout.newTransactionId;
  const waiting = mint({ ...given, reference: "waits", amount: "0.40", rail: SLOW_RAIL });
  const doubted = mint({ ...given, reference: "a doubt", amount: "0.30", rail: SLOW_RAIL });
  const mistaken = mint({ ...given, reference: "a mistake", amount: "0.10", rail: DIRECT_RAIL });
  const reversal = reverse(organizationId, mistaken.newTransactionId, { key: "reversed" });
  return [
    ben,
    ann,
    ...(organizationId === FULL ? tooManyFreezesOf(organizationId, ben.newAccountId) : []),
    ...(organizationId === LIMITED ? limitsPrologueOf(organizationId, ben.newAccountId) : []),
    updateAccount(organizationId, ann.newAccountId),
    mint({ ...given, reference: "the first", amount: "2.00", rail: DIRECT_RAIL }),
    redeem({
      ...given,
      reference: "too soon",
      amount: "0.01",
      rail: SLOW_RAIL,
      terms: { phoneCoolingMillis: 600_000 },
    }),
    mistaken,
    reversal,
    reverse(organizationId, mistaken.newTransactionId, { key: "reversed-again", description: "for another reason" }),
    reverse(organizationId, reversal.newTransactionId, { key: "reversal-reversed" }),
    mint({ ...given, reference: "an order", amount: "0.50", rail: SLOW_RAIL }),
    waiting,
    beginPayment(organizationId, waiting.newTransactionId),
    doubted,
    beginPayment(organizationId, doubted.newTransactionId),
    flag(organizationId, doubted.newTransactionId),
    payout,
    beginPayment(organizationId, id),
    failPayment(organizationId, id),
    completePayment(organizationId, id, { receipt: "late", amountCents: toCents(50_000) }),
  ];
}

/** An account gets one freeze more than it can have. At last none stands. */
function tooManyFreezesOf(organizationId: OrganizationId, accountId: AccountId): readonly Command[] {
  const freezes = Array.from({ length: FREEZES_MAX + 1 }, () => freezeAccount(organizationId, accountId));
  const lifted = freezes
    .slice(0, FREEZES_MAX)
    .map(({ newFreezeId: id }) => unfreezeAccount(organizationId, accountId, id));
  return [...freezes, ...lifted];
}

/** Nothing begins in a restored book. No chance decides whether a run meets that. */
async function beginInRestoredBook({ ledgers, model, clock }: Parties & { clock: Clock }): Promise<Answered[]> {
  const first = "first" as OrganizationId;
  const orders = [...model.transactions.values()].filter(({ organizationId }) => organizationId === first);
  const unbegun = orders.find(({ payment }) => payment?.state === "READY");
  if (unbegun === undefined) throw new Error("the prologue has no order that was not begun");
  await setState(first, "RESTORED", { ledgers, model });
  const begun = [answered(model, beginPayment(first, unbegun.id), clock)];
  await agree(ledgers, model, begun);
  await setState(first, "OPEN", { ledgers, model });
  return begun;
}

/** A mint meets each limit that can be set, one after the other. At last only the tiers stay. */
function limitsPrologueOf(organizationId: OrganizationId, accountId: AccountId): readonly Command[] {
  const two = (reference: string) => mint({ organizationId, accountId, reference, amount: "0.02", rail: DIRECT_RAIL });
  const meet = (tier: string | undefined): Command[] => [
    ...LIMIT_PERIODS.flatMap((period) => [
      setLimits(organizationId, { tier, changes: { [period]: toCents(1) } }),
      two(`beyond ${String(tier)} ${period}`),
      setLimits(organizationId, { tier, changes: { [period]: "NONE" } }),
    ]),
  ];
  const tiers = Array.from({ length: TIERS_MAX }, (_, index) =>
    setLimits(organizationId, { tier: `tier-${String(index)}`, changes: { DAY: toCents(1) } }),
  );
  return [
    setAccountTier(organizationId, accountId, "small"),
    ...meet("small"),
    ...meet(undefined),
    two("within all limits"),
    ...tiers,
    ...tiers.slice(1).map(({ tier }) => setLimits(organizationId, { tier, changes: undefined })),
  ];
}

/** The clock of all ledgers. It is never ahead of the real one. */
class Clock {
  #millis = Date.now() - CLOCK_BEGINS_BEHIND_MILLIS;

  get now(): UnixMillis {
    return toUnixMillis(this.#millis);
  }

  jump(millis: number): void {
    this.#millis = Math.min(this.#millis + millis, Date.now());
  }
}

interface Parties {
  readonly ledgers: readonly LedgerUnderTest[];
  readonly model: Model;
}

/** The model of the same organizations, of which one is nearly full. */
async function modelOf(ledgers: readonly LedgerUnderTest[], clock: Clock): Promise<Model> {
  const model = new Model();
  const cents = MAX_SUM_CENTS - ROOM_CENTS;
  const full = { ...NO_SUMS, reserve: cents, unallocated: cents };
  for (const each of ORGANIZATIONS) model.open(each, clock.now, each === FULL ? full : NO_SUMS);
  for (const ledger of ledgers) await ledger.changeBook(FULL, { reserve_cents: cents, unallocated_cents: cents });
  return model;
}

async function setState(named: OrganizationId, state: BookState, { ledgers, model }: Parties): Promise<void> {
  if (model.state(named).book?.state === state) return;
  model.setState(named, state);
  for (const ledger of ledgers) await ledger.changeBook(named, { state });
}

async function setSuspended(named: OrganizationId, isSuspended: boolean, { ledgers, model }: Parties): Promise<void> {
  if (model.state(named).book?.isSuspended === isSuspended) return;
  model.setSuspended(named, isSuspended);
  for (const ledger of ledgers) await ledger.changeBook(named, { suspended_seq: isSuspended ? ANY_SEQ : null });
}

async function agree(ledgers: readonly LedgerUnderTest[], model: Model, together: readonly Answered[]): Promise<void> {
  const check = async (ledger: LedgerUnderTest): Promise<void> => {
    const answers = await ledger.submitAtOnce(together.map(({ command }) => command));
    // Node's own assertion: its message shows all that differs, while fast-check's report cuts
    // chai's.
    deepStrictEqual(
      { engine: ledger.engine, answers },
      { engine: ledger.engine, answers: together.map(({ answer }) => answer) },
    );
    for (const each of ORGANIZATIONS) {
      const state = await ledger.state(each);
      deepStrictEqual({ engine: ledger.engine, state }, { engine: ledger.engine, state: model.state(each) });
      checkSums(state, ledger.engine);
    }
  };
  await Promise.all(ledgers.map(check));
}

/**
 * Repeats every command that made something: each must get the same resource, and nothing changes.
 * Leaves out the accounts that were erased or closed: their users may come back, and get new ones.
 * Leaves out those whose personal data is another now: the repeat of their creation is refused.
 */
async function repeat(all: readonly Answered[], { ledgers, model, clock }: Parties & { clock: Clock }): Promise<void> {
  const before = ORGANIZATIONS.map((each) => model.state(each));
  const again = all
    .filter(({ command, answer }) => wordOf(answer) === "done" && isStillThere(command, model))
    .map(({ command }) => answered(model, command, clock));
  for (const { command, answer } of again) {
    expect(answer).to.include({ kind: "done", replayed: true });
    expect(answer.kind === "done" && "id" in answer.resource && answer.resource.id).to.equal(madeIdOf(command));
  }
  expect(ORGANIZATIONS.map((each) => model.state(each))).to.deep.equal(before);
  await agree(ledgers, model, again);
}

function isStillThere(command: Command, model: Model): boolean {
  const id = madeIdOf(command);
  if (command.name !== "createAccount") return id !== undefined;
  const { person, status } = model.accounts.get(command.newAccountId) ?? {};
  const isSame = person?.phoneNumber === command.phoneNumber && person.email === command.email;
  return isSame && status !== "CLOSED";
}

function answered(model: Model, command: Command, clock: Clock): Answered {
  return { command, answer: model.submit(command, clock.now) };
}

/**
 * Makes a command of a step. It looks the ids up in the model; they may be missing, or another
 * organization's.
 */
function commandOf(given: Step, model: Model): Command {
  switch (given.name) {
    case "createAccount":
      return createAccount(given.organizationId, given.user, {
        depositReferences: [0, 1].map(depositReference),
        ...(given.key === undefined ? {} : { key: given.key }),
        ...(given.otherPhone ? { phoneNumber: "+254733000000" as PhoneNumber } : {}),
      });
    case "mint":
    case "redeem":
      return { mint, redeem }[given.name]({
        organizationId: given.organizationId,
        accountId: accountIdOf(given, model),
        amount: formatCents(toCents(given.amountCents)),
        reference: `r${String(given.reference)}`,
        description: given.described ? "described" : "",
        rail: given.rail,
        terms: {
          payable: { minCents: toCents(given.stepCents), maxCents: MAX_CENTS, stepCents: toCents(given.stepCents) },
          phoneCoolingMillis: given.phoneCoolingMillis,
        },
        ...(given.key === undefined ? {} : { key: given.key }),
      });
    case "cancelTransaction":
      return cancel(given.organizationId, transactionIdOf(given, model));
    case "reverseTransaction":
      return reverse(given.organizationId, transactionIdOf(given, model), {
        description: given.described ? "described" : "",
        ...(given.key === undefined ? {} : { key: given.key }),
      });
    case "freezeAccount": {
      const { key: idempotencyKey, reason } = given;
      return freezeAccount(given.organizationId, accountIdOf(given, model), {
        reason,
        ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
      });
    }
    case "unfreezeAccount": {
      const accountId = accountIdOf(given, model);
      return unfreezeAccount(given.organizationId, accountId, freezeIdOf(accountId, given, model));
    }
    case "closeAccount":
      return closeAccount(given.organizationId, accountIdOf(given, model));
    case "updateAccount":
      return updateAccount(given.organizationId, accountIdOf(given, model));
    case "eraseAccount":
      return { ...eraseAccount(given.organizationId, accountIdOf(given, model)), actor: OPERATOR };
    case "setLimits": {
      const { type, limit, limitCents } = given;
      const changes = limitCents === undefined ? undefined : { [limit]: limitCents as Cents | "NONE" };
      return setLimits(given.organizationId, { tier: given.tier, type, changes });
    }
    case "setAccountTier":
      return setAccountTier(given.organizationId, accountIdOf(given, model), given.tier);
    case "coverShortfall":
    case "recoverShortfall":
    case "allocate":
    case "returnUnallocated":
    case "bookReceipt":
    case "bookPayment":
    case "adjustMovement":
    case "explainTransfer":
    case "fundCharges": {
      const wanted = given.isAgreed ? model.waiting(given.organizationId).at(-1) : undefined;
      if (wanted !== undefined) return agreeing(wanted, given.person);
      const target = given.name === "allocate" || given.name === "recoverShortfall";
      return correctBook(given.name, given.organizationId, {
        ...given,
        account: given.hasAccount ? accountIdOf(given, model) : undefined,
        target: target ? accountIdOf(given, model) : given.receipt,
      });
    }
    case "beginPayment":
    case "acceptPayment":
    case "postponePayment":
    case "completePayment":
    case "failPayment":
    case "flagTransaction":
    case "clearFlag":
    case "resolveTransaction":
      return paymentCommandOf(given, model);
  }
}

/** One person wants what happens to a deposit, and another one does it. */
function commandsOf(given: Step | DepositStep, model: Model): readonly Command[] {
  if (!("isFirst" in given)) return [commandOf(given, model)];
  const command = depositCommandOf(given, model);
  if (!("facts" in command || command.name === "returnDeposit")) return [command];
  return ["carol", "dan"].map((person) => ({
    ...command,
    authority: { ...command.authority, person: person as Decider, newProposalId: newProposalId() },
  }));
}

type OnDeposit = DepositCommand | EndReturn | ReceiveDeposit | RecordCharge | MoveMoney;

function depositCommandOf(given: DepositStep, model: Model): OnDeposit {
  const { organizationId: caller, age } = given;
  const owned = ownedBy(given, model.deposits.values());
  const isFitting = (deposit: ModelDeposit): boolean =>
    deposit.status === (given.name === "unassignDeposit" ? "CREDITED" : "UNALLOCATED");
  const fitting = given.isNear ? owned.filter(isFitting) : [];
  const deposit = (fitting.length > 0 ? fitting : owned).at(-1 - age);
  const id = deposit?.id ?? newDepositId();
  const mintId = deposit?.transactionId ?? newTransactionId();
  const receipt = given.receipt === "own" ? `x${given.name}${String(id)}` : given.receipt;
  const amount = toCents(given.amountCents);
  switch (given.name) {
    case "recordCharge":
      return recordCharge(caller, { movement: receipt, direction: given.isNear ? "in" : "out", amountCents: amount });
    case "receiveDeposit":
      return receivedOf(given, `${receipt}${String(model.deposits.size)}`, model);
    case "recordDeposit":
      return recordDeposit(caller, {
        receipt: given.receipt === "own" ? `${receipt}${String(model.deposits.size)}` : receipt,
        amountCents: amount,
        accountId: given.hasAccount ? accountIdOf(given, model) : undefined,
      });
    case "assignDeposit":
      return assignDeposit(caller, id, accountIdOf(given, model));
    case "unassignDeposit":
      return unassignDeposit(caller, id, mintId);
    case "returnDeposit":
      return returnDeposit(caller, id, receipt);
    case "returnThroughRail":
      return returnThroughRail(caller, id);
    case "endReturn": {
      const begunAt = { organizationId: caller, id, updatedAt: toUnixMillis(1) };
      return given.isFirst ? endReturn(begunAt, receipt) : endReturn(begunAt);
    }
    case "reverseDeposit":
      return reverseDeposit(caller, id, { receipt, transactionId: given.isFirst ? deposit?.transactionId : mintId });
    case "claim": {
      const claimed = deposit?.receipt ?? receipt;
      return mint({
        organizationId: caller,
        accountId: accountIdOf(given, model),
        amount: formatCents(given.isFirst ? amount : (deposit?.amountCents ?? amount)),
        reference: `claims ${claimed}`,
        receipt: claimed,
      });
    }
  }
}

/** Shillings with what was typed: nothing, a word, the number of an account, or an order. */
function receivedOf(given: DepositStep, unused: string, model: Model): ReceiveDeposit {
  const { organizationId: caller, typed, age } = given;
  const orders = ownedBy(given, model.transactions.values()).filter(({ payment }) => payment !== undefined);
  const mints = given.isNear ? orders.filter(({ type }) => type === "MINT") : orders;
  const order = typed === "order" ? mints.at(-1 - age) : undefined;
  const receipts = [...model.transactions.values()].flatMap(({ railReceipt }) => railReceipt ?? []);
  return receiveDeposit(caller, {
    receipt: given.receipt === "own" ? unused : given.receipt,
    amountCents: given.hasAccount && order !== undefined ? order.amountCents : toCents(given.amountCents),
    typed: typed === "0" || typed === "1" ? depositReference(Number(typed)) : typed,
    orderId: typed === "order" ? (order?.id ?? newTransactionId()) : undefined,
    confirmedReceipts: given.isConfirmed ? receipts : [],
    ...(given.isFirst ? { phone: "254******678" as MaskedPhone } : {}),
  });
}

/** The orders that a step moves on. */
const FITS: Readonly<Record<PaymentStep["name"], (order: ModelTransaction) => boolean>> = {
  beginPayment: ({ payment }) => payment?.state === "READY",
  acceptPayment: ({ payment }) => payment?.state === "SENDING",
  postponePayment: ({ payment }) => payment?.state === "SENDING",
  completePayment: ({ status }) => status === "PROCESSING" || status === "FAILED",
  failPayment: ({ status }) => status === "PROCESSING",
  flagTransaction: ({ status }) => status === "PROCESSING",
  clearFlag: ({ status, openFlags }) => status !== "PROCESSING" && openFlags.length > 0,
  resolveTransaction: ({ status }) => status === "PROCESSING",
};

type PaymentStep = Extract<Step, { resolution: unknown }>;

function paymentCommandOf(given: PaymentStep, model: Model): Command {
  const { organizationId: caller, age } = given;
  const orders = ownedBy(given, model.transactions.values()).filter(({ payment }) => payment !== undefined);
  const fitting = given.isNear ? orders.filter(FITS[given.name]) : [];
  const order = (fitting.length > 0 ? fitting : orders).at(-1 - age);
  const id = order?.id ?? newTransactionId();
  const proof = (name: string | undefined) => (name === "own" ? `${given.name.slice(0, 1)}${String(id)}` : name);
  switch (given.name) {
    case "beginPayment":
      return { ...beginPayment(caller, id, given.differs ? 1 : 0), isAgain: given.isAgain };
    case "acceptPayment":
      return advancePayment("acceptPayment", caller, id);
    case "postponePayment":
      return advancePayment("postponePayment", caller, id, given.sends, given.isNear);
    case "completePayment": {
      const [movement, receipt] = [proof(given.movement), proof(given.receipt)];
      const amountCents =
        order === undefined || !given.differs
          ? order?.amountCents
          : toCents(Math.min(order.amountCents + 500, MAX_CENTS));
      return completePayment(caller, id, {
        ...(movement === undefined ? {} : { movement }),
        ...(receipt === undefined && movement !== undefined ? {} : { receipt: receipt ?? "r1" }),
        ...(given.isNear && amountCents !== undefined ? { amountCents } : {}),
        ...(given.isNear ? { phone: "254******678" as MaskedPhone } : {}),
      });
    }
    case "failPayment":
      return { ...failPayment(caller, id, given.failure), ...(given.isAgain ? { sends: given.sends } : {}) };
    case "flagTransaction":
      return flag(caller, id, given.flag);
    case "clearFlag":
      return clearFlag(caller, id, order?.openFlags[0] ?? given.flag);
    case "resolveTransaction": {
      const wanted = given.isAgreed ? model.waiting(caller).at(-1) : undefined;
      if (wanted !== undefined) return agreeing(wanted, given.person);
      const receipt = receiptNamed(proof(given.receipt) ?? "r1");
      const resolution: Resolution =
        given.resolution === "FAILED"
          ? { kind: "FAILED" }
          : given.resolution === "COMPLETED"
            ? { kind: "COMPLETED", receipt }
            : { kind: "MOVED", receipt, amountCents: toCents(7) };
      return resolve(caller, id, resolution, given);
    }
  }
}

/** The same of a person, who may be the one who has proposed it. */
function agreeing(command: ReturnType<Model["waiting"]>[number], person: string): Command {
  const authority = { ...command.authority, person: person as Decider, newProposalId: newProposalId() };
  return command.name === "resolveTransaction"
    ? { ...command, authority, facts: { ...command.facts, newTransactionId: newTransactionId() } }
    : { ...command, authority };
}

function accountIdOf({ user: userId, ...given }: Whose & { user: string }, model: Model): AccountId {
  const owned = ownedBy(given, model.accounts.values());
  // The accounts that were erased are no user's. A step about "ben" takes the newest of them, too.
  const isMeant = ({ person }: (typeof owned)[number]) => (person?.userId ?? "ben") === userId;
  return owned.findLast(isMeant)?.id ?? newAccountId();
}

/** A freeze of the account, standing or lifted; or one of another account. */
function freezeIdOf(
  id: AccountId,
  { ofOtherAccount, age }: { readonly ofOtherAccount: boolean; readonly age: number },
  model: Model,
): FreezeId {
  const freezes = [...model.freezes.values()].filter(({ accountId }) => (accountId === id) !== ofOtherAccount);
  return freezes.at(-1 - age)?.id ?? newFreezeId();
}

function transactionIdOf({ age, ...given }: Whose & { age: number }, model: Model): TransactionId {
  return ownedBy(given, model.transactions.values()).at(-1 - age)?.id ?? newTransactionId();
}

function ownedBy<Row extends { organizationId: OrganizationId }>(
  { organizationId: caller, ofStranger }: Whose,
  rows: Iterable<Row>,
): Row[] {
  return [...rows].filter((row) => (row.organizationId === caller) !== ofStranger);
}

/** The id that a command has for the resource that it makes. */
function madeIdOf(command: Command): AccountId | TransactionId | undefined {
  if ("newAccountId" in command) return command.newAccountId;
  // A report or a resolution makes a transaction only if it comes late.
  const isOfRail = ["completePayment", "resolveTransaction", "receiveDeposit"].includes(command.name);
  return "newTransactionId" in command && !isOfRail ? command.newTransactionId : undefined;
}

const LIMIT_OF_BOOK = "LIMIT_EXCEEDED of the organization";
const LIMITS_THAT_WERE_SET = LIMIT_PERIODS.flatMap((period) => [
  `${period} of the account`,
  `${period} of the organization`,
]);

function wordOf(answer: Answer): string {
  if (answer.kind === "refused") {
    const { refusal } = answer;
    if (refusal.reason === "LIMIT_EXCEEDED" && refusal.reached !== undefined) {
      return `${refusal.reached.period} of the ${refusal.accountId === undefined ? "organization" : "account"}`;
    }
    const isOfBook = refusal.reason === "LIMIT_EXCEEDED" && refusal.accountId === undefined;
    return isOfBook ? LIMIT_OF_BOOK : refusal.reason;
  }
  return answer.replayed ? "replayed" : "done";
}

/** Compares the sums of the book with the balances of its accounts, and with each other. */
function checkSums({ accounts, deposits, book }: State, engine: string): void {
  const owed = { available: 0, held: 0 };
  for (const account of accounts) {
    if (!("person" in account)) continue;
    owed.available += account.availableCents;
    owed.held += account.heldCents;
  }
  const { reserve = 0, shortfall = 0, charges = 0, unallocated = 0 } = book?.sums ?? {};
  // Each sum is exact as a number. Two of them together may not be.
  const together = (...cents: readonly number[]): bigint => cents.reduce((sum, each) => sum + BigInt(each), 0n);
  expect(together(reserve, shortfall, charges), engine).to.equal(together(owed.available, owed.held, unallocated));
  expect(unallocatedOf(deposits), engine).to.be.at.most(unallocated);
}
