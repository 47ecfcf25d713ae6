import { expect } from "chai";

import type { Rail } from "../../src/domain/transaction.js";
import type { AccountId, DepositId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  type AdminServiceService as Rpcs,
  PayInOutcome,
  type RecordDepositsResponse,
} from "../../src/gen/kesc/admin/v1/admin_service.js";
import { ProposalState } from "../../src/gen/kesc/admin/v1/resources.js";
import { BookServiceService as Books } from "../../src/gen/kesc/v1/book_service.js";
import { type Deposit, DepositReason, DepositStatus } from "../../src/gen/kesc/v1/deposit.js";
import { EventServiceService as Events } from "../../src/gen/kesc/v1/event_service.js";
import type { Transaction } from "../../src/gen/kesc/v1/transaction.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import type { GrpcCaller, GrpcReply } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { depositReference, newDepositId } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { setRailAccount } from "../support/operations/rails.js";
import { redeem } from "../support/operations/transactions.js";
import {
  actAs,
  approved,
  type GivenOperator,
  type OPERATOR_RPCS,
  type OperatorService,
  proposalOf,
  startOperatorService,
} from "./given.js";

type Fields = Readonly<Record<string, unknown>>;
interface Acted {
  readonly deposit?: Deposit | undefined;
}

const {
  DEPOSIT_STATUS_UNALLOCATED: UNALLOCATED,
  DEPOSIT_STATUS_CREDITED: CREDITED,
  DEPOSIT_STATUS_RETURNED: RETURNED,
  DEPOSIT_STATUS_REVERSED: REVERSED,
} = DepositStatus;
/** Where an act leads a deposit to. */
const ENDS = {
  assignDeposit: "credited",
  unassignDeposit: "unallocated",
  returnDeposit: "returned",
  reverseDeposit: "reversed",
} as const;

for (const engine of ENGINES_OF_STAGE) {
  describe(`what operators decide about deposits (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let [fin, sue, bob] = [] as unknown as readonly GivenOperator[] as [GivenOperator, GivenOperator, GivenOperator];
    let organizationId: OrganizationId;
    let numbers = 0;

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      fin = await service.operator("Fin", "finance");
      sue = await service.operator("Sue", "support");
      bob = await service.operator("Bob", "approver");
      ({ organizationId } = service.tenant);
      // One person decides up to 10.00.
      await commit(setRailAccount(organizationId, { resolveAloneMaxCents: 1_000 as never }));
    });
    after(() => service.dispose());

    async function commit(...commands: Parameters<OperatorService["opened"]["cell"]["committer"]["commit"]>[0]) {
      const results = await service.opened.cell.committer.commit(commands, toUnixMillis(Date.now()));
      for (const result of results) expect(result.kind, JSON.stringify(result)).to.equal("done");
      return results;
    }

    const fresh = (): string => `RKT${String((numbers += 1)).padStart(7, "0")}`;

    async function newAccount(): Promise<AccountId> {
      const command = createAccount(organizationId, `user-${fresh()}`);
      await commit(command);
      return command.newAccountId;
    }

    /** Shillings that the rail lists, for nobody. */
    async function waiting(amountCents = 500): Promise<DepositId> {
      const command = receiveDeposit(organizationId, { receipt: fresh(), amountCents: amountCents as never });
      await commit(command);
      return command.newDepositId;
    }

    const call = (
      rpc: keyof typeof OPERATOR_RPCS,
      fields: Fields,
      by: GivenOperator = fin,
    ): Promise<GrpcReply<Acted | undefined>> => {
      const own = { organization_id: organizationId, note: `words about ${rpc}` };
      return actAs(admin, rpc, { ...own, ...fields }, { by });
    };

    async function done(rpc: keyof typeof Rpcs, fields: Fields): Promise<Deposit> {
      const { response, replayed, message } = await call(rpc, fields);
      expect(replayed, message).to.equal(false);
      if (response?.deposit === undefined) throw new Error(`${rpc} returned no deposit`);
      const again = await call(rpc, fields);
      expect(again.replayed, rpc).to.equal(true);
      expect(again.response?.deposit?.status).to.equal(response.deposit.status);
      return response.deposit;
    }

    /** No act leads a deposit from here to where the act ends. */
    async function expectNoWay(deposit_id: string, from: string, ...acts: readonly (keyof typeof ENDS)[]) {
      for (const rpc of acts) {
        const refused = await call(rpc, { deposit_id, account_id: await newAccount(), receipt: fresh() });
        const facts = { from, to: ENDS[rpc] };
        expect([refused.reason, refused.facts], rpc).to.deep.equal(["INVALID_TRANSITION", facts]);
      }
    }

    /** The transactions of an account, as the organization lists them. */
    async function transactionsOf(account_id: string): Promise<readonly Transaction[]> {
      const { key } = service.tenant;
      const request = { account_id };
      const { response } = await service.publicly.call(Transactions.listTransactions, request, { key });
      return response?.transactions ?? [];
    }

    it("record shillings for nobody, which wait by hand", async () => {
      const receipt = `kcb-1:${fresh()}`;
      const deposit = await done("recordDeposit", { receipt, amount: "5.00" });
      expect(deposit).to.deep.include({
        status: UNALLOCATED,
        reason: DepositReason.DEPOSIT_REASON_BY_HAND,
        amount: "5.00",
        rail: "direct",
        rail_receipt: undefined,
        receipt: { source: "kcb-1", number: receipt.slice("kcb-1:".length) },
        account_id: undefined,
      });
      const other = await call("recordDeposit", { receipt, amount: "6.00" });
      expect(other).to.deep.include({
        reason: "RECEIPT_ALREADY_USED",
        facts: { rail_receipt: receipt, deposit_id: deposit.id },
      });
    });

    it("record shillings for an account, whose organization sees an ordinary mint", async () => {
      const account_id = await newAccount();
      const deposit = await done("recordDeposit", { receipt: fresh(), amount: "5.00", account_id });
      expect(deposit).to.include({ status: CREDITED, account_id });
      const [mint, ...others] = await transactionsOf(account_id);
      expect(others).to.deep.equal([]);
      expect(mint).to.include({ id: deposit.transaction_id, deposit_id: deposit.id, amount: "5.00", rail: "direct" });
      const { key } = service.tenant;
      const events = await service.publicly.call(Events.listEvents, { account_id }, { key });
      const types = events.response?.events.map(({ type }) => type);
      expect(types).to.deep.equal(["account.created", "transaction.completed"]);
    });

    it("assign a deposit, and take the credit back", async () => {
      const [deposit_id, account_id] = [await waiting(), await newAccount()];
      const assigned = await done("assignDeposit", { deposit_id, account_id });
      expect(assigned).to.include({ id: deposit_id, status: CREDITED, account_id, reason: undefined });
      const elsewhere = await call("assignDeposit", { deposit_id, account_id: await newAccount() });
      expect(elsewhere).to.deep.include({ reason: "INVALID_TRANSITION", facts: { from: "credited", to: "credited" } });
      const unassigned = await done("unassignDeposit", { deposit_id });
      expect(unassigned).to.include({
        status: UNALLOCATED,
        reason: DepositReason.DEPOSIT_REASON_UNASSIGNED,
        account_id: undefined,
        transaction_id: undefined,
      });
      const [redemption, mint] = await transactionsOf(account_id);
      expect(redemption).to.include({
        deposit_id,
        corrects_transaction_id: mint?.id,
        status_note: "words about unassignDeposit",
      });
      expect(mint).to.include({ deposit_id, id: assigned.transaction_id, reversed_by_transaction_id: redemption?.id });
      // The next credit is another mint.
      const next = await done("assignDeposit", { deposit_id, account_id: await newAccount() });
      expect(next.transaction_id).not.to.equal(assigned.transaction_id);
    });

    it("leave shillings that are spent to the account", async () => {
      const [deposit_id, account_id] = [await waiting(), await newAccount()];
      await done("assignDeposit", { deposit_id, account_id });
      await commit(redeem({ organizationId, accountId: account_id, amount: "1.00", reference: fresh() }));
      const refused = await call("unassignDeposit", { deposit_id });
      expect(refused).to.deep.include({
        reason: "INSUFFICIENT_FUNDS",
        facts: { available: "4.00", requested: "5.00" },
      });
    });

    it("return a deposit that waits, with a receipt of its own", async () => {
      const deposit_id = await waiting();
      const { response } = await call("getDeposit", { deposit_id });
      const used = await call("returnDeposit", { deposit_id, receipt: response?.deposit?.rail_receipt });
      expect(used.reason).to.equal("RECEIPT_ALREADY_USED");
      const returned = await done("returnDeposit", { deposit_id, receipt: fresh() });
      expect(returned).to.include({ status: RETURNED, reason: undefined });
      await expectNoWay(deposit_id, "returned", "assignDeposit", "unassignDeposit", "reverseDeposit");
    });

    it("let the rail return a deposit, if it can", async () => {
      const other = { ...receiveDeposit(organizationId, { receipt: fresh() }), rail: "sandbox" as Rail };
      await commit(other);
      const refused = await call("returnDeposit", { deposit_id: other.newDepositId, through_rail: true });
      expect(refused.fields?.map(({ field, message }) => `${field} ${message}`)).to.deep.equal([
        "through_rail must be false: the rail sandbox returns no payments",
      ]);
      const command = receiveDeposit(organizationId, { receipt: fresh() });
      await commit(command);
      const { newDepositId: deposit_id } = command;
      const returning = await done("returnDeposit", { deposit_id, through_rail: true });
      expect(returning).to.include({ status: DepositStatus.DEPOSIT_STATUS_RETURNING, reason: undefined });
      await expectNoWay(deposit_id, "returning", "assignDeposit", "unassignDeposit", "returnDeposit");
      expect((await done("reverseDeposit", { deposit_id, receipt: fresh() })).status).to.equal(RETURNED);
    });

    it("reverse a deposit that waits, one that an account can pay for, and one that it cannot", async () => {
      const supply = async () => {
        const { key } = service.tenant;
        const asked = { as_of_time: undefined, as_of_sequence: undefined };
        return (await service.publicly.call(Books.getSupply, asked, { key })).response?.supply;
      };
      const first = await waiting();
      expect(await done("reverseDeposit", { deposit_id: first, receipt: fresh() })).to.include({ status: REVERSED });
      const [paid, rich] = [await waiting(), await newAccount()];
      await done("assignDeposit", { deposit_id: paid, account_id: rich });
      const before = await supply();
      expect(await done("reverseDeposit", { deposit_id: paid, receipt: fresh() })).to.include({
        status: REVERSED,
        account_id: rich,
      });
      expect((await supply())?.shortfall).to.equal(before?.shortfall);
      const [short, poor] = [await waiting(), await newAccount()];
      await done("assignDeposit", { deposit_id: short, account_id: poor });
      await commit(redeem({ organizationId, accountId: poor, amount: "5.00", reference: fresh() }));
      const receipt = fresh();
      await done("reverseDeposit", { deposit_id: short, receipt });
      expect(Number((await supply())?.shortfall) - Number(before?.shortfall)).to.equal(5);
      const [reversal] = await transactionsOf(poor);
      expect(reversal).to.include({ deposit_id: short, rail_receipt: receipt, amount: "5.00" });
    });

    it("record a lost night in one act: preview, proposal, approval, and once whatever comes later", async () => {
      const account = createAccount(organizationId, "of the night", { depositReferences: [depositReference(3)] });
      await commit(account);
      const [typed, nobody, known] = [fresh(), fresh(), fresh()];
      await commit(receiveDeposit(organizationId, { receipt: known, amountCents: 300 as never }));
      const pay_ins = [
        { receipt: typed, amount: "9.00", reference: depositReference(3), paid_at: undefined },
        {
          receipt: nobody,
          amount: "1.01",
          reference: "Wanjiku 0712345678",
          paid_at: { seconds: 1_700_000_000n, nanos: 0 },
        },
        { receipt: known, amount: "3.00", reference: "", paid_at: undefined },
      ];
      const night = async (fields: Fields): Promise<RecordDepositsResponse> => {
        const reply = await call("recordDeposits", { rail: "mpesa", pay_ins, preview: false, ...fields });
        if (reply.response === undefined) throw new Error(reply.message);
        return { ...(reply.response as RecordDepositsResponse), proposalId: reply.proposalId } as never;
      };
      const { PAY_IN_OUTCOME_CREDITED, PAY_IN_OUTCOME_WAITING, PAY_IN_OUTCOME_PASSED_OVER } = PayInOutcome;
      const preview = await night({ preview: true, note: "" });
      expect(preview.pay_ins.map(({ outcome, account_id, reason }) => [outcome, account_id, reason])).to.deep.equal([
        [PAY_IN_OUTCOME_CREDITED, account.newAccountId, undefined],
        [PAY_IN_OUTCOME_WAITING, undefined, DepositReason.DEPOSIT_REASON_UNKNOWN_REFERENCE],
        [PAY_IN_OUTCOME_PASSED_OVER, undefined, DepositReason.DEPOSIT_REASON_NO_REFERENCE],
      ]);
      const totals = {
        recorded: { count: 2n, amount: "10.01" },
        credited: { count: 1n, amount: "9.00" },
        passed_over: { count: 1n, amount: "3.00" },
      };
      expect(preview).to.deep.include({ ...totals, needs_second_person: true });
      const unknown = await call("listDeposits", { receipt: typed, page_size: 5 });
      expect((unknown.response as { deposits?: unknown[] } | undefined)?.deposits).to.deep.equal([]);

      const asked = await night({});
      const { proposalId } = asked as { proposalId?: string };
      const proposal = await proposalOf(admin, proposalId, bob);
      expect(proposal?.type).to.equal("recordDeposits");
      // What payers type may be personal, and a proposal stays.
      expect(proposal?.content).to.not.match(/Wanjiku|0712345678/);
      expect(proposal?.changes.map(({ what, after }) => [what, after])).to.deep.include([
        "pay-ins",
        "3 of mpesa, together 13.01 KES",
      ]);
      expect(await approved(service.admin[1], proposalId, bob)).to.equal(undefined);
      const again = await night({});
      expect(again.recorded?.count).to.equal(0n);
      expect(again.pay_ins.map(({ outcome }) => outcome)).to.deep.equal(Array(3).fill(PAY_IN_OUTCOME_PASSED_OVER));
      const [row] = await transactionsOf(account.newAccountId);
      expect(row).to.include({ amount: "9.00", rail: "mpesa", rail_receipt: typed });
      await commit(
        receiveDeposit(organizationId, { receipt: typed, typed: depositReference(3), amountCents: 900 as never }),
      );
      expect(await transactionsOf(account.newAccountId)).to.have.length(1);
    });

    it("refuse a lost night that has a receipt twice, or that of another rail, and name the row", async () => {
      const of = { rail: "mpesa", preview: true, note: "n" };
      const row = { receipt: fresh(), amount: "1.00", reference: "", paid_at: undefined };
      for (const [fields, problem] of [
        [{ pay_ins: [] }, "pay_ins is required"],
        [{ pay_ins: [row, row] }, `pay_ins[1] has ${row.receipt} a second time`],
        [{ pay_ins: [row, { ...row, receipt: "kcb-1:1" }] }, "pay_ins[1].receipt must be a receipt of mpesa"],
        [{ pay_ins: [{ ...row, receipt: "" }] }, "pay_ins[0].receipt is required"],
        [{ pay_ins: [row], rail: "direct" }, "rail must be a rail with statements, such as mpesa"],
        [{ pay_ins: Array(1_001).fill(row) }, "pay_ins must have at most 1000 items"],
        [{ pay_ins: [row], preview: false, note: "" }, "note is required"],
      ] as const) {
        const refused = await call("recordDeposits", { ...of, ...fields });
        expect(refused.fields?.map(({ field, message }) => `${field} ${message}`)).to.include(problem);
      }
    });

    it("need a second person above the amount of the account at the rail", async () => {
      const account_id = await newAccount();
      const big = 1_001;
      const other = await waiting(big);
      const ACTS: readonly (readonly [rpc: keyof typeof Rpcs, fields: () => Promise<Fields>])[] = [
        ["recordDeposit", () => Promise.resolve({ receipt: fresh(), amount: "10.01" })],
        ["recordDeposit", () => Promise.resolve({ receipt: fresh(), amount: "10.01", account_id })],
        ["assignDeposit", () => Promise.resolve({ deposit_id: other, account_id })],
        ["unassignDeposit", () => Promise.resolve({ deposit_id: other })],
        ["reverseDeposit", () => Promise.resolve({ deposit_id: other, receipt: fresh() })],
        ["returnDeposit", async () => ({ deposit_id: await waiting(big), receipt: fresh() })],
      ];
      for (const [rpc, fieldsOf] of ACTS) {
        const fields = await fieldsOf();
        const { response, proposalId, message } = await call(rpc, fields);
        expect((await proposalOf(admin, proposalId, bob))?.type, message).to.equal(rpc);
        expect(response?.deposit, rpc).to.equal(undefined);
        const again = await call(rpc, fields);
        expect(again.proposalId, rpc).to.equal(proposalId);
        expect(await approved(service.admin[1], proposalId, bob), rpc).to.equal(undefined);
        const repeated = await call(rpc, fields);
        expect([repeated.replayed, repeated.proposalId], rpc).to.deep.equal([true, undefined]);
      }
    });

    it("let a proposal wait whose deposit has changed meanwhile", async () => {
      const [deposit_id, account_id] = [await waiting(1_001), await newAccount()];
      const assigned = await call("assignDeposit", { deposit_id, account_id });
      expect(await approved(admin, assigned.proposalId, bob)).to.equal(undefined);
      const [undo, reverse] = [
        await call("unassignDeposit", { deposit_id }),
        await call("reverseDeposit", { deposit_id, receipt: fresh() }),
      ];
      expect(await approved(admin, undo.proposalId, bob)).to.equal(undefined);
      const again = await call("assignDeposit", { deposit_id, account_id: await newAccount() });
      expect(await approved(admin, again.proposalId, bob)).to.equal(undefined);
      // The mint that it names credits the deposit no longer.
      expect(await approved(admin, reverse.proposalId, bob)).to.equal("INVALID_TRANSITION");
      const waits = await proposalOf(admin, reverse.proposalId, bob);
      expect(waits?.state).to.equal(ProposalState.PROPOSAL_STATE_PENDING);
    });

    it("are the acts of finance, about deposits of the organization alone", async () => {
      const deposit_id = await waiting();
      for (const [rpc, fields] of [
        ["recordDeposit", { receipt: fresh(), amount: "5.00" }],
        ["assignDeposit", { deposit_id, account_id: await newAccount() }],
        ["unassignDeposit", { deposit_id }],
        ["returnDeposit", { deposit_id, receipt: fresh() }],
        ["reverseDeposit", { deposit_id, receipt: fresh() }],
      ] as const) {
        expect((await call(rpc, fields, sue)).reason, rpc).to.equal("ROLE_REQUIRED");
        const nobody = await call(rpc, { ...fields, organization_id: "org_01jd2r6p5vf8ksw3xhb1z7q4ye" });
        expect(nobody.reason, rpc).to.equal("ORGANIZATION_NOT_FOUND");
        if (rpc === "recordDeposit") continue;
        const missing = await call(rpc, { ...fields, deposit_id: newDepositId() });
        expect(missing.reason, rpc).to.equal("DEPOSIT_NOT_FOUND");
      }
    });

    for (const [rpc, fields, names] of [
      ["recordDeposit", { receipt: "", amount: "1.005", account_id: "", note: "" }, ["receipt", "amount", "note"]],
      ["recordDeposit", { receipt: "rkt7", amount: "1.00" }, ["receipt"]],
      ["recordDeposit", { receipt: "KCB:1", amount: "1.00" }, ["receipt"]],
      ["assignDeposit", { deposit_id: "" }, ["deposit_id", "account_id"]],
      ["unassignDeposit", { deposit_id: "", note: "" }, ["deposit_id", "note"]],
      ["returnDeposit", { deposit_id: "x", receipt: "a b" }, ["receipt"]],
      ["returnDeposit", { deposit_id: "x", receipt: "A", through_rail: true }, ["receipt"]],
      ["reverseDeposit", { deposit_id: "x", receipt: "" }, ["receipt"]],
    ] as const) {
      it(`name the bad fields of ${rpc}: ${names.join(", ")}`, async () => {
        const reply = await call(rpc, fields);
        expect(reply.fields?.map(({ field }) => field)).to.have.members(names);
        for (const { message } of reply.fields ?? []) expect(message).to.match(/(must|is|has) /);
      });
    }
  });
}
