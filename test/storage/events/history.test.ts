import { expect } from "chai";

import type { Account } from "../../../src/domain/account.js";
import { JOURNAL_KINDS } from "../../../src/domain/journal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { LedgerEvent } from "../../../src/events/event.js";
import { type EventFilter, type EventReads, EVENTS_READ_MAX } from "../../../src/events/ports.js";
import { eventReads } from "../../../src/storage/events/event-reads.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import { Random } from "../../attack/random.js";
import { databaseOfSuite, ENGINES_OF_STAGE, type TestDatabase } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { NOW } from "../../support/given.js";
import { RandomCommands } from "./random-history.js";

const COMMANDS = 1_200;
const ALL = { size: 1_000, beforeSeq: undefined };

/** What the tables held right after a commit. */
interface Moment {
  readonly sequence: number;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly transactions: ReadonlyMap<string, Transaction>;
}

for (const engine of ENGINES_OF_STAGE) {
  describe(`the events of a random history (${engine})`, function () {
    this.timeout(120_000);
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    let stored: EventReads;
    const moments: Moment[] = [];
    let events: readonly LedgerEvent[];

    before(async () => {
      organizationId = (await keys(opened.database, () => NOW).createOrganization("events")).id;
      stored = eventReads(opened.cell);
      const random = new Random(2);
      const commands = new RandomCommands(random, organizationId);
      let now: number = NOW;
      for (let done = 0; done < COMMANDS; done += 1) {
        now += random.below(2);
        const [result] = await opened.cell.committer.commit([commands.next()], toUnixMillis(now));
        if (result?.kind === "bug") throw result.error;
        if (result?.kind === "done") moments.push(await momentOf(opened, organizationId));
      }
      events = await everyEvent();
    });

    async function everyEvent(filter: EventFilter = {}, limit = EVENTS_READ_MAX): Promise<readonly LedgerEvent[]> {
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

    it("has each row once, in order", () => {
      expect(events.map(({ sequence }) => sequence)).to.deep.equal(events.map((_, index) => index + 1));
      expect(events).to.have.length(moments.at(-1)?.sequence ?? 0);
      expect(new Set(events.map(({ id }) => id)).size).to.equal(events.length);
    });

    it("meets every kind of row about accounts and transactions", () => {
      const met = new Set(events.map(({ type }) => type));
      const ofOperators =
        /^(organization|key|webhook_endpoint|reserve|rail|charge)\.|^book\.(proposal_rejected|covered|recovered|returned|funded)$|^deposit\.return(ing|_failed)$/;
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
      expect(compared).to.be.above(COMMANDS / 6);
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
    });

    it("is the same in pages of any size, and with filters", async () => {
      expect(await everyEvent({}, 7)).to.deep.equal(events);
      const accountId = events.find(({ account }) => account !== undefined)?.accountId;
      const types = ["transaction.completed", "account.frozen"] as const;
      expect(await everyEvent({ accountId })).to.deep.equal(events.filter((event) => event.accountId === accountId));
      expect(await everyEvent({ types, accountId })).to.deep.equal(
        events.filter((event) => event.accountId === accountId && types.some((type) => type === event.type)),
      );
    });

    it("reads the slices of several books at once", async () => {
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
