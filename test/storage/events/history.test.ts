import { expect } from "chai";
import fc from "fast-check";

import type { Account } from "../../../src/domain/account.js";
import type { CreateAccount } from "../../../src/domain/accounts/create-account.js";
import { JOURNAL_KINDS } from "../../../src/domain/journal.js";
import type { Command } from "../../../src/domain/operations.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { parseDescription, parseMetadata, type StatusReason } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { LedgerEvent } from "../../../src/events/event.js";
import { type EventFilter, type EventReads, EVENTS_READ_MAX } from "../../../src/events/ports.js";
import { eventReads } from "../../../src/storage/events/event-reads.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import { Model } from "../../attack/property/model.js";
import { prologueOf } from "../../attack/property/prologue.js";
import { anyStep, commandsOf } from "../../attack/property/steps.js";
import { databaseOfSuite, ENGINES_OF_STAGE, type TestDatabase } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { NOW, SLOW_RAIL, valid } from "../../support/names.js";
import {
  createAccount,
  createDestination,
  removeDestination,
  revealAccount,
  setLimits,
} from "../../support/operations/accounts.js";
import { correctBook } from "../../support/operations/corrections.js";
import { setPayoutCheck } from "../../support/operations/payouts.js";
import { isModelled } from "../../support/operations/table.js";
import {
  beginPayment,
  completePayment,
  decideCheck,
  decideHeld,
  mint,
  redeem,
} from "../../support/operations/transactions.js";

const BOOKS = 12;
/** The steps in each book. With more, most would name what an earlier one has used. */
const STEPS = 100;
const ALL = { size: 1_000, beforeSeq: undefined };

/** What the tables held right after a commit. */
interface Moment {
  readonly sequence: number;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly transactions: ReadonlyMap<string, Transaction>;
}

interface History {
  readonly organizationId: OrganizationId;
  readonly moments: readonly Moment[];
  readonly events: readonly LedgerEvent[];
}

for (const engine of ENGINES_OF_STAGE) {
  describe(`the events of random histories (${engine})`, function () {
    this.timeout(120_000);
    const opened = databaseOfSuite(engine);
    let stored: EventReads;
    const histories: History[] = [];

    before(async () => {
      stored = eventReads(opened.cell);
      // With this seed the steps meet every kind of row.
      const withoutLimits = anyStep.filter(({ name }) => name !== "setLimits");
      const steps = fc.sample(withoutLimits, { numRuns: BOOKS * STEPS, seed: 3, unbiased: true });
      for (let book = 0; book < BOOKS; book += 1) {
        const organizationId = (await keys(opened.database, () => NOW).createOrganization("events")).id;
        const moments = await momentsOf(opened, organizationId, steps.slice(book * STEPS, (book + 1) * STEPS));
        histories.push({ organizationId, moments, events: await everyEvent(organizationId) });
      }
    });

    async function everyEvent(
      organizationId: OrganizationId,
      filter: EventFilter = {},
      limit = EVENTS_READ_MAX,
    ): Promise<readonly LedgerEvent[]> {
      const all: LedgerEvent[] = [];
      for (let after = 0; ;) {
        const read = await stored.after({ organizationId, afterSequence: after, limit, filter });
        expect(read.nextSequence - after).to.be.at.most(limit);
        all.push(...read.events);
        after = read.nextSequence;
        if (after === read.latestSequence) return all;
      }
    }

    /** The events that show their resource as it was after a commit, with that moment. */
    function* lastOfEach(resource: "transaction" | "account"): Generator<readonly [LedgerEvent, Moment]> {
      for (const { moments, events } of histories) {
        let from = 0;
        for (const moment of moments) {
          const last = new Map<string, LedgerEvent>();
          for (const event of events.slice(from, moment.sequence)) {
            const id = resource === "transaction" ? event.transaction?.id : event.account?.id;
            if (id !== undefined) last.set(id, event);
          }
          for (const event of last.values()) yield [event, moment];
          from = moment.sequence;
        }
      }
    }

    it("has each row once, in order", () => {
      for (const { moments, events } of histories) {
        expect(events.map(({ sequence }) => sequence)).to.deep.equal(events.map((_, index) => index + 1));
        expect(events).to.have.length(moments.at(-1)?.sequence ?? 0);
        expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
      }
    });

    it("meets every kind of row about accounts and transactions", () => {
      const met = new Set(histories.flatMap(({ events }) => events.map(({ type }) => type)));
      const ofOperators =
        /^(organization|key|webhook_endpoint|reserve|rail|charge|month|payouts|bank_file)\.|^book\.(proposal_rejected|covered|recovered|returned|funded)$|^deposit\.return(ing|_failed)$/;
      expect(JOURNAL_KINDS.filter((kind) => !met.has(kind) && !ofOperators.test(kind))).to.deep.equal([]);
    });

    it("shows each transaction as it was right after the row", () => {
      let compared = 0;
      for (const [event, { transactions }] of lastOfEach("transaction")) {
        const then = transactions.get(event.transaction?.id ?? "");
        expect(event.transaction, `event ${String(event.sequence)}`).to.deep.equal({
          ...then,
          railMovement: undefined,
        });
        compared += 1;
      }
      expect(compared).to.be.above((BOOKS * STEPS) / 6);
    });

    it("shows each account as it was right after the row, without personal data", () => {
      for (const [{ sequence, type, account }, { accounts }] of lastOfEach("account")) {
        const then = accounts.get(account?.id ?? "");
        const keys = ["id", "status", "statusNote", "tier", "depositReference", "freeze", "createdAt", "updatedAt"];
        expect(account).to.have.all.keys(keys);
        const { freeze, depositReference, ...shown } = account ?? {};
        // Only the row that sets it shows it.
        expect(depositReference).to.equal(type === "account.created" ? then?.depositReference : undefined);
        expect(then, `event ${String(sequence)}`).to.deep.include(shown);
        const began = type === "account.frozen" ? then?.freezes.at(-1) : undefined;
        if (type === "account.unfrozen") expect(freeze?.lifted?.at).to.equal(then?.updatedAt);
        else expect(freeze, `event ${String(sequence)}`).to.deep.equal(began);
      }
    });

    it("shows the balances that the account had", () => {
      for (const { moments, events } of histories) {
        let from = 0;
        for (const { sequence, accounts } of moments) {
          const last = new Map<AccountId | undefined, LedgerEvent>();
          for (const event of events.slice(from, sequence)) last.set(event.accountId, event);
          for (const [id, { balances }] of last) {
            const { availableCents, heldCents } = accounts.get(id ?? "") ?? {};
            expect(balances).to.deep.equal(id === undefined ? undefined : { availableCents, heldCents });
          }
          from = sequence;
        }
      }
    });

    it("is the same in pages of any size, and with filters", async () => {
      for (const { organizationId, events } of histories) {
        expect(await everyEvent(organizationId, {}, 7)).to.deep.equal(events);
        const accountId = events.find(({ account }) => account !== undefined)?.accountId;
        const types = ["transaction.completed", "account.frozen"] as const;
        const own = events.filter((event) => event.accountId === accountId);
        expect(await everyEvent(organizationId, { accountId })).to.deep.equal(own);
        expect(await everyEvent(organizationId, { types, accountId })).to.deep.equal(
          own.filter((event) => types.some((type) => type === event.type)),
        );
      }
    });

    it("reads the slices of several books at once", async () => {
      const [organizationId] = histories.map((history) => history.organizationId) as [OrganizationId];
      const other = (await keys(opened.database, () => NOW).createOrganization("other")).id;
      const none = "org_01jd2r6p5vf8ksw3xhb1z7q4ye" as OrganizationId;
      const slices = [
        { organizationId, after: 3, upTo: 5 },
        { organizationId: other, after: 0, upTo: 9 },
        { organizationId: none, after: 0, upTo: 1 },
      ];
      const found = await stored.slices(slices);
      expect(found.map((event) => [event.organizationId, event.sequence])).to.have.deep.members([
        [organizationId, 4],
        [organizationId, 5],
        [other, 1],
      ]);
      expect([...(await stored.latest([other, none]))]).to.deep.equal([[other, 1]]);
    });

    it("keeps books that hold", async () => {
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    });
  });
}

/** Does the commands of the steps in the book, and after each effect reads what the tables hold. */
async function momentsOf(
  opened: TestDatabase,
  organizationId: OrganizationId,
  steps: readonly Parameters<typeof commandsOf>[0][],
): Promise<readonly Moment[]> {
  // It follows the book, so that most steps name what is there.
  const model = new Model();
  model.open(organizationId, NOW);
  const moments: Moment[] = [];
  let commands = 0;
  const run = async (given: Command): Promise<void> => {
    commands += 1;
    const now = toUnixMillis(NOW + Math.floor(commands / 2));
    const command = withWords(given, `why-${String(commands)}`);
    if (isModelled(command) && command.name !== "decideCheck") model.submit(command, now);
    const [result] = await opened.cell.committer.commit([command], now);
    if (result?.kind === "bug") throw result.error;
    if (result?.kind === "done") moments.push(await momentOf(opened, organizationId));
  };
  const prologue = prologueOf(organizationId);
  for (const command of [...prologue, ...rareOf(prologue[1] as CreateAccount)]) await run(command);
  for (const step of steps) for (const command of commandsOf({ ...step, organizationId }, model)) await run(command);
  // The audit takes the persons of the steps for no operators, whom no limit stops.
  await run(setLimits(organizationId, { tier: "small", changes: { DAY: toCents(9_000) } }));
  for (const command of heldIn(organizationId)) await run(command);
  return moments;
}

/** A redemption that waits for a person: no step sets the limits that hold one. */
function heldIn(organizationId: OrganizationId): readonly Command[] {
  const account = createAccount(organizationId, "held");
  const of = { organizationId, accountId: account.newAccountId, amount: "1.00" };
  const held = redeem({ ...of, reference: "is held", rail: SLOW_RAIL });
  const checked = ["allow", "hold", "deny", "none"].map((word) =>
    redeem({ ...of, amount: "0.01", reference: `checked: ${word}`, rail: SLOW_RAIL }),
  );
  return [
    account,
    mint({ ...of, amount: "2.00", reference: "to hold" }),
    setLimits(organizationId, { type: "REDEEM", changes: { HELD_AMOUNT: toCents(1) } }),
    held,
    { ...decideHeld("releaseTransaction", organizationId, held.newTransactionId), actor: OPERATOR },
    { ...setPayoutCheck(organizationId), actor: OPERATOR },
    ...checked,
    ...checked.map(({ newTransactionId: id }, index) =>
      decideCheck(organizationId, id, { answer: (["ALLOW", "HOLD", "DENY"] as const)[index] ?? "NO_ANSWER" }),
    ),
  ];
}

/** What no step is about, or what random steps seldom get to. */
function rareOf({ organizationId, newAccountId: id }: CreateAccount): readonly Command[] {
  const destination = createDestination(organizationId, id);
  const order = mint({ organizationId, accountId: id, amount: "1.00", reference: "named late", rail: SLOW_RAIL });
  const orderId = order.newTransactionId;
  const byBoth = (name: "bookReceipt" | "allocate", target: string) =>
    ["amina", "brian"].map((person) =>
      correctBook(name, organizationId, { amountCents: 9, key: name, target, person }),
    );
  return [
    destination,
    removeDestination(organizationId, id, destination.newDestinationId),
    revealAccount(organizationId, id),
    order,
    beginPayment(organizationId, orderId),
    completePayment(organizationId, orderId, { movement: "late name" }),
    completePayment(organizationId, orderId, { movement: "late name", receipt: "late name" }),
    ...byBoth("bookReceipt", "unknown"),
    ...byBoth("allocate", id),
  ];
}

/** The command with words of its own. Those of an act of two persons are content, and stay. */
function withWords(command: Command, text: string): Command {
  const words = text as StatusReason;
  if (command.name === "mint" || command.name === "redeem") {
    const metadata = valid(parseMetadata(new Map([["till", text]])));
    return { ...command, description: valid(parseDescription(text)), metadata };
  }
  const isOfTwo = "authority" in command && ("amountCents" in command || "depositId" in command);
  if ("note" in command && !isOfTwo) return { ...command, note: words };
  return "reason" in command ? { ...command, reason: words } : command;
}

async function momentOf({ cell }: TestDatabase, organizationId: OrganizationId): Promise<Moment> {
  const tables = reads(cell);
  const accounts = await tables.accounts(organizationId, {}, ALL);
  const transactions = await tables.transactions(organizationId, {}, ALL);
  const [head] = await cell.reader.rows<{ readonly last_seq: number }>(
    `SELECT last_seq FROM ${cell.engine.table("books")} WHERE organization_id = ?`,
    [organizationId],
  );
  return {
    sequence: head?.last_seq ?? 0,
    accounts: new Map(accounts.rows.map((account) => [account.id, account])),
    transactions: new Map(transactions.rows.map((transaction) => [transaction.id, transaction])),
  };
}
