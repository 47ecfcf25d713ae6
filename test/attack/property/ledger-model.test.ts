import { deepStrictEqual } from "node:assert/strict";

import { expect } from "chai";
import fc from "fast-check";

import type { Command } from "../../../src/domain/commands.js";
import { COMMAND_NAMES } from "../../../src/domain/operations/table.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { formatCents, MAX_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import {
  cancel,
  changeStatus,
  createAccount,
  mint,
  newAccountId,
  newTransactionId,
  redeem,
  SLOW_RAIL,
} from "../../support/commands.js";
import { ENGINES, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { LedgerUnderTest } from "./ledger-under-test.js";
import { type Answer, ANSWER_WORDS, Model, type State } from "./model.js";

// Sends random commands in random groups to three ledgers: the one on SQLite, the one on PostgreSQL
// and the model. All must agree on every answer and every balance.

const RUNS = 60;
const RUNS_MILLIS_MAX = 50_000;
const ORGANIZATIONS = ["first", "second"] as OrganizationId[];

// There are few values of each kind, so that commands meet again.
const organizationId = fc.constantFrom(...ORGANIZATIONS);
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

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ name: fc.constant("createAccount"), organizationId, user, key, otherPhone: rarely }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      name: fc.constantFrom("mint", "mint", "redeem"),
      organizationId,
      user,
      ofStranger: rarely,
      amountCents,
      reference: fc.nat(40),
      described: rarely,
      rail: fc.constantFrom(DIRECT_RAIL, SLOW_RAIL),
      key,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constantFrom("freezeAccount", "unfreezeAccount", "closeAccount"),
      organizationId,
      user,
      ofStranger: rarely,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant("cancelTransaction"),
      organizationId,
      ofStranger: rarely,
      age: fc.nat(4),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const groups = fc.array(fc.array(step, { minLength: 1, maxLength: 24, size: "max" }), { maxLength: 12, size: "max" });

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
  this.timeout(2 * RUNS_MILLIS_MAX);
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
      const model = new Model();
      const ledgers = await Promise.all(
        databases.map((each) => LedgerUnderTest.over(each, { organizations: ORGANIZATIONS, batchMax })),
      );
      const all: Answered[] = [];
      try {
        for (const steps of stepGroups) {
          const group = steps.map((each) => answered(model, commandOf(each, model)));
          await agree(ledgers, model, group);
          all.push(...group);
        }
        await repeat(ledgers, model, all);
        await Promise.all(
          ledgers.map(async (ledger) => {
            for (const each of ORGANIZATIONS) await ledger.checkPostings(each, model.effects(each));
            await ledger.checkSeq(ORGANIZATIONS.reduce((sum, each) => sum + model.effects(each), 0));
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
    await fc.assert(property, { numRuns: RUNS, unbiased: true, interruptAfterTimeLimit: RUNS_MILLIS_MAX });
    expect(answersMet).to.have.all.keys(...ANSWER_WORDS);
    // A new operation is missing here until `step` and `commandOf` make its command.
    expect([...operationsDone].sort()).to.deep.equal([...COMMAND_NAMES].sort());
  });
});

async function agree(ledgers: readonly LedgerUnderTest[], model: Model, group: readonly Answered[]): Promise<void> {
  const check = async (ledger: LedgerUnderTest): Promise<void> => {
    const answers = await ledger.submitAtOnce(group.map(({ command }) => command));
    // Node's own assertion: its message shows all that differs, while fast-check's report cuts
    // chai's.
    deepStrictEqual(
      { engine: ledger.engine, answers },
      { engine: ledger.engine, answers: group.map(({ answer }) => answer) },
    );
    for (const each of ORGANIZATIONS) {
      const state = await ledger.state(each);
      deepStrictEqual({ engine: ledger.engine, state }, { engine: ledger.engine, state: model.state(each) });
      expect(state.supply?.reserve, ledger.engine).to.equal(owedBy(state));
    }
  };
  await Promise.all(ledgers.map(check));
}

/**
 * Repeats every command that made something: each must get the same resource, and nothing changes.
 */
async function repeat(ledgers: readonly LedgerUnderTest[], model: Model, all: readonly Answered[]): Promise<void> {
  const before = ORGANIZATIONS.map((each) => model.state(each));
  const made = all.filter(({ command, answer }) => madeIdOf(command) !== undefined && wordOf(answer) === "done");
  const again = made.map(({ command }) => answered(model, command));
  for (const { command, answer } of again) {
    expect(answer).to.include({ kind: "done", replayed: true });
    expect(answer.kind === "done" && answer.resource.id).to.equal(madeIdOf(command));
  }
  expect(ORGANIZATIONS.map((each) => model.state(each))).to.deep.equal(before);
  await agree(ledgers, model, again);
}

function answered(model: Model, command: Command): Answered {
  return { command, answer: model.submit(command) };
}

/**
 * Makes a command of a step. It looks the ids up in the model; they may be missing, or another
 * organization's.
 */
function commandOf(given: Step, model: Model): Command {
  switch (given.name) {
    case "createAccount":
      return createAccount(given.organizationId, given.user, {
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
        ...(given.key === undefined ? {} : { key: given.key }),
      });
    case "cancelTransaction":
      return cancel(given.organizationId, transactionIdOf(given, model));
    case "freezeAccount":
    case "unfreezeAccount":
    case "closeAccount":
      return changeStatus(given.name, given.organizationId, accountIdOf(given, model));
  }
}

function accountIdOf({ user: userId, ...given }: Whose & { user: string }, model: Model): AccountId {
  const owned = ownedBy(given, model.accounts.values());
  return owned.find((account) => account.userId === userId)?.id ?? newAccountId();
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
  return "newTransactionId" in command ? command.newTransactionId : undefined;
}

function wordOf(answer: Answer): string {
  if (answer.kind === "refused") return answer.refusal.reason;
  return answer.replayed ? "replayed" : "done";
}

function owedBy({ accounts }: State): number {
  return accounts.reduce(
    (sum, account) => ("userId" in account ? sum + account.availableCents + account.heldCents : sum),
    0,
  );
}
