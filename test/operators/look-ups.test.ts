import { expect } from "chai";

import { asWritten } from "../../src/domain/api-key.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { EmailAddress } from "../../src/domain/values/email-address.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  AdminServiceService as Rpcs,
  type ListJournalRequest,
  type ListProposalsRequest,
  LookUpReading as Reading,
} from "../../src/gen/kesc/admin/v1/admin_service.js";
import { ReserveKind } from "../../src/gen/kesc/v1/supply.js";
import { historyReads } from "../../src/storage/statements/history.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { depositReference } from "../support/names.js";
import { createAccount, createDestination } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { beginPayment, flag, mint, redeem } from "../support/operations/transactions.js";
import { type GivenOperator, type OperatorService, pagesOf, startOperatorService, textOf } from "./given.js";

const MPESA = "mpesa" as Rail;
const TWO_HOURS_MILLIS = 7_200_000;
const COMMANDS_PER_COMMIT = 64;

for (const engine of ENGINES) {
  describe(`what operators look up (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let lagMillis = TWO_HOURS_MILLIS;
    let vera: GivenOperator;
    let sue: GivenOperator;
    let fin: GivenOperator;
    let bob: GivenOperator;
    const now = () => toUnixMillis(Date.now() - lagMillis);
    const ids = { amina: "", twin: "", funds: "", payout: "", deposit: "", destination: "", proposal: "" };
    let organization_id = "";

    before(async () => {
      service = await startOperatorService(engine, { now, environment: { KESC_FOUR_EYES: "reserve" } });
      [admin] = service.admin;
      vera = await service.operator("Vera", "viewer");
      sue = await service.operator("Sue", "support");
      fin = await service.operator("Fin", "finance", "support");
      bob = await service.operator("Bob", "approver");
      const { organizationId } = service.tenant;
      organization_id = organizationId;
      const email = "amina@example.com" as EmailAddress;
      const amina = createAccount(organizationId, "amina", { email, depositReferences: [depositReference(0)] });
      const twin = createAccount(organizationId, "twin");
      const of = { organizationId, accountId: amina.newAccountId };
      const funds = mint({ ...of, amount: "100.00", reference: "funds", receipt: "RKTQDM7W01" });
      const terms = { railAccountId: "rail_old" as RailAccountId };
      const payout = redeem({ ...of, amount: "10.00", reference: "payout", rail: MPESA, terms });
      const destination = createDestination(organizationId, amina.newAccountId);
      const deposit = receiveDeposit(organizationId, { receipt: "SKQ7XH2M4P", typed: "0712345679" });
      const { newTransactionId: id } = payout;
      const commands = [amina, twin, funds, payout, beginPayment(organizationId, id), flag(organizationId, id)];
      await service.opened.cell.committer.commit([...commands, destination, deposit], now());
      Object.assign(ids, {
        amina: amina.newAccountId,
        twin: twin.newAccountId,
        destination: destination.newDestinationId,
      });
      Object.assign(ids, { funds: funds.newTransactionId, payout: id, deposit: deposit.newDepositId });
      lagMillis = 0;
      const note = "case 17";
      const stranger = await service.stored.createOrganization({ name: "Other", isSandbox: false }, undefined);
      expect(stranger.kind).to.equal("done");
      await admin.call(Rpcs.suspendOrganization, { organization_id, note }, fin);
      const { proposalId = "" } = await admin.call(
        Rpcs.recordReserve,
        {
          ...{ organization_id, place: "bank", amount: "90.00", as_of_day: "2026-01-31", evidence: "page 1", note },
          ...{ kind: ReserveKind.RESERVE_KIND_OTHER, document_sha256: "", matures_on: "" },
        },
        fin,
      );
      ids.proposal = proposalId;
    });
    after(() => service.dispose());

    const journal = (asked: Partial<ListJournalRequest>) =>
      admin.call(Rpcs.listJournal, { organization_id, ...asked }, vera);
    /** The sequences of all pages of a list. */
    const sequencesOf = async (asked: Partial<ListJournalRequest>): Promise<number[]> => {
      const pages = await pagesOf((page_token) => journal({ ...asked, page_token }));
      return pages.flatMap(({ entries }) => entries.map(({ line }) => Number(line?.sequence)));
    };

    const FILTERS: readonly (readonly [name: string, asked: () => Partial<ListJournalRequest>, where: () => string])[] =
      [
        ["all", () => ({}), () => "1 = 1"],
        ["an account", () => ({ account_id: ids.amina }), () => `account_id = '${ids.amina}'`],
        ["a transaction", () => ({ transaction_id: ids.payout }), () => `transaction_id = '${ids.payout}'`],
        ["a transaction of one row", () => ({ transaction_id: ids.funds }), () => `transaction_id = '${ids.funds}'`],
        ["an operator", () => ({ operator_id: fin.operator.id }), () => `actor LIKE '%${fin.operator.id}%'`],
        ["the organization itself", () => ({ own: true }), () => "account_id IS NULL"],
      ];
    for (const [name, asked, where] of FILTERS) {
      it(`lists the rows of ${name}, newest first, in pages and ranges`, async () => {
        const rows = await execute<{ seq: number | string }>(
          service.opened.address,
          `SELECT seq FROM journal WHERE book = 1 AND ${where()} ORDER BY seq DESC`,
        );
        const expected = rows.map(({ seq }) => Number(seq));
        expect(expected).not.to.deep.equal([]);
        for (const page_size of [undefined, 1, 2]) {
          expect(await sequencesOf({ ...asked(), page_size })).to.deep.equal(expected);
        }
        const range = { start_sequence: 3n, end_sequence: 7n };
        const inRange = expected.filter((seq) => seq >= 3 && seq < 7);
        for (const page_size of [undefined, 1]) {
          expect(await sequencesOf({ ...asked(), ...range, page_size })).to.deep.equal(inRange);
        }
        const types = ["transaction.*", "reserve.recorded", "organization.suspended"];
        const ofTypes = await execute<{ seq: number | string }>(
          service.opened.address,
          `SELECT seq FROM journal WHERE book = 1 AND ${where()} AND seq < 10
             AND (kind LIKE 'transaction.%' OR kind IN ('reserve.recorded', 'organization.suspended')) ORDER BY seq DESC`,
        );
        for (const page_size of [undefined, 1]) {
          const found = await sequencesOf({ ...asked(), types, end_sequence: 10n, page_size });
          expect(found).to.deep.equal(ofTypes.map(({ seq }) => Number(seq)));
        }
        const [start, end] = ["2020-01-01", "2020-12-31"];
        expect(await sequencesOf({ ...asked(), start })).to.deep.equal(await sequencesOf(asked()));
        expect(await sequencesOf({ ...asked(), end })).to.deep.equal([]);
        expect(await sequencesOf({ ...asked(), start, end, types })).to.deep.equal([]);
      });
    }

    it("lists an approver with the proposer, and both by name", async () => {
      await admin.call(Rpcs.approveProposal, { proposal_id: ids.proposal }, bob);
      const { response } = await journal({ operator_id: bob.operator.id });
      expect(response?.entries.map(({ line, operator_names: names }) => [line?.type, names])).to.deep.equal([
        ["book.proposal_approved", ["Fin", "Bob"]],
        ["reserve.recorded", ["Fin", "Bob"]],
      ]);
    });

    it("lists no row of another organization", async () => {
      const all = (await service.stored.organizations()).map(asWritten);
      const other = { organization_id: all.find(({ name }) => name === "Other")?.id ?? "" };
      for (const [name, asked] of FILTERS.slice(1, 5)) {
        expect(await sequencesOf({ ...asked(), ...other }), name).to.deep.equal([]);
      }
    });

    it("refuses two filters, and names each bad field", async () => {
      const two = await journal({ account_id: ids.amina, own: true });
      expect(two.fields?.map(({ field, code }) => [field, code])).to.deep.equal([["own", "CONFLICT"]]);
      const bad = await journal({
        start_sequence: 0n,
        end_sequence: -1n,
        account_id: " x",
        types: ["no"],
        start: "1",
        end: "2",
      });
      const wrong = ["start_sequence", "end_sequence", "account_id", "types", "start", "end"];
      expect(bad.fields?.map(({ field }) => field)).to.deep.equal(wrong);
      const [token] = [(await journal({ page_size: 1 })).response?.next_page_token];
      expect((await journal({ page_size: 1, page_token: token ?? "", own: true })).reason).to.equal("INVALID_FIELD");
    });

    const lookUp = async (text: string) => {
      const { response, reason } = await admin.call(Rpcs.lookUp, { organization_id, text }, sue);
      const found = (response?.matches ?? []).map(({ match }) => {
        if (match === undefined) return "";
        return match.$case === "entry" ? String(match.value.line?.sequence) : match.value.id;
      });
      return { readAs: response?.read_as, tried: response?.tried ?? [], found, matches: response?.matches, reason };
    };

    const TEXTS: readonly (readonly [text: () => string, readAs: Reading, found: () => readonly string[]])[] = [
      [() => ids.amina, Reading.LOOK_UP_READING_ACCOUNT_ID, () => [ids.amina]],
      [() => ids.payout, Reading.LOOK_UP_READING_TRANSACTION_ID, () => [ids.payout]],
      [() => ids.deposit, Reading.LOOK_UP_READING_DEPOSIT_ID, () => [ids.deposit]],
      [() => ids.destination, Reading.LOOK_UP_READING_DESTINATION_ID, () => [ids.amina]],
      [() => ids.proposal, Reading.LOOK_UP_READING_PROPOSAL_ID, () => [ids.proposal]],
      [() => "#3", Reading.LOOK_UP_READING_SEQUENCE, () => ["3"]],
      [() => "row-3", Reading.LOOK_UP_READING_SEQUENCE, () => ["3"]],
      [() => "amina@EXAMPLE.com", Reading.LOOK_UP_READING_EMAIL, () => [ids.amina]],
      [() => "  0712 345 678 ", Reading.LOOK_UP_READING_PHONE_NUMBER, () => [ids.twin, ids.amina]],
      [() => depositReference(0), Reading.LOOK_UP_READING_DEPOSIT_REFERENCE, () => [ids.amina]],
      [() => "RKTQDM7W01", Reading.LOOK_UP_READING_RECEIPT, () => [ids.funds]],
      [() => "skq7xh2m4p", Reading.LOOK_UP_READING_RECEIPT, () => [ids.deposit]],
      [() => ids.payout.toUpperCase(), Reading.LOOK_UP_READING_TRANSACTION_ID, () => [ids.payout]],
      [() => "ROW-3", Reading.LOOK_UP_READING_SEQUENCE, () => ["3"]],
      [() => "Amina@Example.com", Reading.LOOK_UP_READING_EMAIL, () => [ids.amina]],
      [() => "PayOut", Reading.LOOK_UP_READING_REFERENCE, () => [ids.payout]],
      [() => "TWIN", Reading.LOOK_UP_READING_USER_ID, () => [ids.twin]],
      [() => "7W01", Reading.LOOK_UP_READING_REFERENCE, () => []],
      [() => "payout", Reading.LOOK_UP_READING_REFERENCE, () => [ids.payout]],
      [() => "twin", Reading.LOOK_UP_READING_USER_ID, () => [ids.twin]],
      [() => "RKTQDM7W02", Reading.LOOK_UP_READING_RECEIPT, () => []],
      [() => "0733111222", Reading.LOOK_UP_READING_PHONE_NUMBER, () => []],
      [() => "#99999", Reading.LOOK_UP_READING_SEQUENCE, () => []],
      [() => "x".repeat(200), Reading.LOOK_UP_READING_UNSPECIFIED, () => []],
    ];
    for (const [text, readAs, found] of TEXTS) {
      it(`reads a text as ${Reading[readAs]}: ${String(text).slice(6)}`, async () => {
        const looked = await lookUp(text());
        expect([looked.found, Reading[looked.readAs ?? 0]]).to.deep.equal([found(), Reading[readAs]]);
      });
    }

    it("tries a text in the order of the readings, and says which", async () => {
      expect((await lookUp("nobodyhas1")).tried.map((reading) => Reading[reading])).to.deep.equal([
        "LOOK_UP_READING_RECEIPT",
        "LOOK_UP_READING_REFERENCE",
        "LOOK_UP_READING_USER_ID",
      ]);
    });

    it("hides personal data, and keeps the text out of the log", async () => {
      const { matches } = await lookUp("+254712345678");
      const shown = textOf(matches);
      expect(shown).to.contain("254******678").and.to.contain("a***@example.com");
      expect(shown).not.to.contain("254712345678").and.not.to.contain("amina@");
      await lookUp("amina@example.com");
      expect(service.lines.join("")).not.to.contain("712345678").and.not.to.contain("amina@");
    });

    it("refuses no text and a long one, without repeating it", async () => {
      const long = await admin.call(Rpcs.lookUp, { organization_id, text: "y".repeat(257) }, vera);
      expect(long.fields?.map(({ field, code }) => [field, code])).to.deep.equal([["text", "TOO_LONG"]]);
      expect(long.message).not.to.contain("yyy");
      const none = await admin.call(Rpcs.lookUp, { organization_id, text: " " }, vera);
      expect(none.fields?.map(({ field, code }) => [field, code])).to.deep.equal([["text", "REQUIRED"]]);
    });

    it("finds nothing of another organization", async () => {
      const all = (await service.stored.organizations()).map(asWritten);
      const other = all.find(({ name }) => name === "Other")?.id ?? "";
      for (const [text] of TEXTS.filter(([each]) => !each().startsWith("#") && !each().startsWith("row-"))) {
        const { response } = await admin.call(Rpcs.lookUp, { organization_id: other, text: text() }, sue);
        expect(response?.matches, text()).to.deep.equal([]);
      }
    });

    const overview = async (by: GivenOperator) =>
      (await admin.call(Rpcs.getOverview, { organization_id }, by)).response;

    it("counts what waits, and knows the oldest open payment and who may approve", async () => {
      const place = { place: "till", amount: "1.00", as_of_day: "2026-01-31", evidence: "page 2", note: "" };
      const terms = { kind: ReserveKind.RESERVE_KIND_OTHER, document_sha256: "", matures_on: "" };
      const { proposalId } = await admin.call(Rpcs.recordReserve, { organization_id, ...place, ...terms }, fin);
      expect(proposalId).to.match(/^prp_/);
      const seen = await overview(bob);
      const one = { count: 1, more: false };
      expect(seen).to.deep.include({ flagged_transactions: one, old_open_payments: one, waiting_deposits: one });
      expect(seen).to.deep.include({ waiting_proposals: one, proposals_for_me: one });
      expect(seen?.oldest_open_payment_id).to.equal(ids.payout);
      expect(Number(seen?.oldest_open_payment_at?.seconds) * 1_000).to.be.below(Date.now() - 3_600_000);
      expect(seen?.sums).to.deep.include({ available: "90.00", held: "10.00", unallocated: "5.00" });
      const [row] = await execute<{ last: number }>(
        service.opened.address,
        "SELECT MAX(seq) AS last FROM journal WHERE book = 1",
      );
      expect(Number(seen?.as_of_sequence)).to.equal(Number(row?.last));
      for (const other of [fin, vera]) {
        expect((await overview(other))?.proposals_for_me).to.deep.equal({ count: 0, more: false });
      }
    });

    it("lists the proposals of an organization, about a subject, and for the caller", async () => {
      const list = async (filters: Partial<ListProposalsRequest>, by: GivenOperator) => {
        const asked = { include_closed: true, ...filters };
        return (await admin.call(Rpcs.listProposals, asked, by)).response?.proposals.length;
      };
      expect(await list({ organization_id }, vera)).to.equal(2);
      expect(await list({ organization_id: "org_01jd2r6p5vf8ksw3xhb1z7q4ye" }, vera)).to.equal(0);
      expect(await list({ for_me: true }, bob)).to.equal(1);
      expect(await list({ for_me: true }, fin)).to.equal(0);
      expect(await list({ subject_id: "bank" }, vera)).to.equal(1);
    });

    it("lists proposals page by page, each of them once, whether they wait or not", async () => {
      for (const include_closed of [true, false]) {
        const idsBy = async (page_size: number) => {
          const asked = { include_closed, page_size };
          const pages = await pagesOf((page_token) => admin.call(Rpcs.listProposals, { ...asked, page_token }, vera));
          return pages.flatMap(({ proposals }) => proposals.map(({ id }) => id));
        };
        const seen = await idsBy(1);
        expect(seen).to.deep.equal(await idsBy(9));
        // What waits begins with what has waited longest, and all of them with the newest.
        expect(seen).to.deep.equal(include_closed ? seen.toSorted().reverse() : seen.toSorted());
        expect(seen.length).to.be.at.least(include_closed ? 2 : 1);
      }
      const asked = { include_closed: true, page_size: 1, page_token: "x" };
      const { fields } = await admin.call(Rpcs.listProposals, asked, vera);
      expect(fields?.map(({ field }) => field)).to.deep.equal(["page_token"]);
    });

    it("looks at a bounded number of rows, however many there are", async () => {
      const { organizationId } = service.tenant;
      await admin.call(
        Rpcs.resumeOrganization,
        { organization_id, note: "case 17 is over" },
        await service.operator("Ann", "admin"),
      );
      const { cell } = service.opened;
      const of = { organizationId, accountId: ids.twin as never, amount: "0.01" };
      const commands = Array.from({ length: 1_005 }, (_, index) => [
        mint({ ...of, reference: `m${String(index)}` }),
        receiveDeposit(organizationId, { receipt: `D${String(index)}` }),
      ]).flat();
      while (commands.length > 0) await cell.committer.commit(commands.splice(0, COMMANDS_PER_COMMIT), now());
      const history = historyReads(cell);
      const [first] = await sequencesOf({ account_id: ids.twin, end_sequence: 9n });
      expect(first).to.be.below(9);
      const request = { startSeq: 1, endSeq: 9, size: 100, beforeSeq: undefined };
      const filter = { accountId: ids.twin as never };
      const walked = await history.journal(organizationId, { filter, ...request });
      // The marks of the account may make the walk shorter.
      expect(walked.lookedAt).to.be.within(1, 500);
      const operatorId = fin.operator.id;
      const person = await history.journal(organizationId, { ...request, filter: { operatorId }, endSeq: 9_999 });
      expect(person.lookedAt).to.be.at.most(500);
      const waiting = await history.waiting(organizationId, now());
      expect(waiting.result.deposits).to.deep.equal({ count: 1_000, hasMore: true });
      expect(waiting.lookedAt).to.be.at.most(4_006);
      expect((await overview(vera))?.waiting_deposits).to.deep.equal({ count: 1_000, more: true });
    });
  });
}
