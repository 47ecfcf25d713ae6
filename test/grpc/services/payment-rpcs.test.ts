import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { Authority } from "../../../src/domain/authority.js";
import type { Command } from "../../../src/domain/operations.js";
import type { RailReceipt } from "../../../src/domain/payment.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import {
  FlagReason,
  HeldReason,
  PaymentState,
  RailMessagePurpose,
  RailReportOutcome,
} from "../../../src/gen/kesc/v1/payment.js";
import { FailureReason } from "../../../src/gen/kesc/v1/transaction.js";
import {
  ResolutionState,
  type ResolveTransactionRequest,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import { toTimestamp } from "../../../src/grpc/messages/timestamp.js";
import { givenProposal } from "../../support/given.js";
import {
  KEY_ID,
  ORGANIZATION,
  serve,
  type ServerUnderTest,
  transaction,
  TRANSACTION_ID,
} from "../../support/service/grpc-server.js";
import { MemoryRails, railAccount, SANDBOX, storedPayment } from "../../support/service/memory-rails.js";

const OPEN: Partial<Transaction> = {
  rail: SANDBOX,
  status: "PROCESSING",
  openFlags: ["OUTCOME_UNKNOWN", "REPORT_DIFFERS"],
  completedAt: undefined,
};

describe("grpc: the payment of a transaction", () => {
  let rails: MemoryRails;
  let under: ServerUnderTest;
  let resource: Transaction;

  beforeEach(async () => {
    rails = new MemoryRails();
    rails.accounts.push(railAccount(ORGANIZATION));
    rails.stored.set(TRANSACTION_ID, storedPayment({ transactionId: TRANSACTION_ID, organizationId: ORGANIZATION }));
    resource = transaction(OPEN);
    under = await serve({
      rails,
      reads: {
        transaction: (organizationId, id) =>
          Promise.resolve(organizationId === ORGANIZATION && id === TRANSACTION_ID ? transaction(OPEN) : undefined),
      },
      submit: ({ name }) => {
        const isDone = name === "clearFlag" || resource.status === "FAILED";
        const made = isDone ? { resource } : { proposal: givenProposal({ content: "{}" }) };
        return Promise.resolve({ kind: "done", resource: made as unknown as Transaction, replayed: false });
      },
    });
  });
  afterEach(() => under.close());

  const commands = (): Command[] => under.submitted.map(({ command }) => command);

  describe("GetPayment", () => {
    it("shows how far the rail has come, and what it has sent, without a phone number", async () => {
      const receivedAt = toUnixMillis(Date.UTC(2026, 0, 2, 0, 5));
      rails.evidence.push({ purpose: "collect", body: '{"PhoneNumber":"254******149"}', receivedAt });
      const { response, code } = await under.grpc.call(rpcs.getPayment, { transaction_id: TRANSACTION_ID });
      expect(code).to.equal(Status.OK);
      expect(response?.payment).to.deep.equal({
        transaction_id: TRANSACTION_ID,
        rail: "sandbox",
        state: PaymentState.PAYMENT_STATE_ACCEPTED,
        masked_phone_number: "+254******149",
        rail_reference: "ws_CO_1",
        started_at: toTimestamp(toUnixMillis(Date.UTC(2026, 0, 2, 0, 0, 1))),
        send_count: 1,
        check_count: 3,
        next_check_at: toTimestamp(toUnixMillis(Date.UTC(2026, 0, 2, 1))),
        last_code: "4999",
        last_code_meaning: undefined,
        open_flags: [FlagReason.FLAG_REASON_OUTCOME_UNKNOWN, FlagReason.FLAG_REASON_REPORT_DIFFERS],
        held_reason: undefined,
        messages: [
          {
            purpose: RailMessagePurpose.RAIL_MESSAGE_PURPOSE_COLLECT,
            body: '{"PhoneNumber":"254******149"}',
            received_at: toTimestamp(receivedAt),
            report: undefined,
          },
        ],
      });
    });

    it("says what a message reports, to compare with the order, and no phone number in full", async () => {
      const receivedAt = toUnixMillis(Date.UTC(2026, 0, 2, 0, 5));
      rails.evidence.push({ purpose: "collect", body: "{}", receivedAt });
      const reported = async (report: typeof rails.report): Promise<unknown> => {
        rails.report = report;
        const { response } = await under.grpc.call(rpcs.getPayment, { transaction_id: TRANSACTION_ID });
        return response?.payment?.messages[0]?.report;
      };
      const nothing = { amount: undefined, masked_phone_number: undefined, receipt: undefined, code: undefined };
      expect(
        await reported({
          kind: "succeeded",
          movement: "m-1",
          receipt: "RKTQDM7W01" as RailReceipt,
          amountCents: toCents(9_900),
          phone: "254712345149" as MaskedPhone,
        }),
      ).to.deep.equal({
        outcome: RailReportOutcome.RAIL_REPORT_OUTCOME_MOVED,
        amount: "99.00",
        masked_phone_number: "+254******149",
        receipt: "RKTQDM7W01",
        code: undefined,
      });
      const moved = { kind: "succeeded", movement: undefined, receipt: undefined, amountCents: undefined } as const;
      expect(await reported({ ...moved, phone: undefined })).to.deep.equal({
        ...nothing,
        outcome: RailReportOutcome.RAIL_REPORT_OUTCOME_MOVED,
      });
      expect(await reported({ kind: "failed", movement: undefined, code: "2001", failure: "WRONG_PIN" })).to.deep.equal(
        {
          ...nothing,
          outcome: RailReportOutcome.RAIL_REPORT_OUTCOME_FAILED,
          code: "2001",
        },
      );
      expect(await reported({ kind: "open", code: "4999" })).to.deep.include({
        outcome: RailReportOutcome.RAIL_REPORT_OUTCOME_OPEN,
      });
    });

    it("has no next check once it has ended, and before it was begun no times but the reason why it waits", async () => {
      const given = { transactionId: TRANSACTION_ID, organizationId: ORGANIZATION };
      rails.stored.set(TRANSACTION_ID, storedPayment(given, { state: "ENDED", lastCode: undefined }));
      const ended = await under.grpc.call(rpcs.getPayment, { transaction_id: TRANSACTION_ID });
      expect(ended.response?.payment).to.deep.include({ next_check_at: undefined, last_code: undefined });
      rails.stored.set(TRANSACTION_ID, storedPayment(given, { lastCode: "2033 result of /status" }));
      const told = await under.grpc.call(rpcs.getPayment, { transaction_id: TRANSACTION_ID });
      const meaning = "the meaning of 2033 result of /status";
      expect(told.response?.payment).to.deep.include({ last_code: "2033", last_code_meaning: meaning });
      const ready = storedPayment(given, { state: "READY", begunAt: undefined, railReference: undefined, sends: 0 });
      rails.stored.set(TRANSACTION_ID, ready);
      rails.held = "OUTCOMES_UNKNOWN";
      const begun = await under.grpc.call(rpcs.getPayment, { transaction_id: TRANSACTION_ID });
      expect(begun.response?.payment).to.deep.include({
        held_reason: HeldReason.HELD_REASON_OUTCOMES_UNKNOWN,
        started_at: undefined,
        rail_reference: undefined,
        send_count: 0,
      });
    });
  });

  it("GetPayment takes the turns of lists: a key has eight under way at most", async () => {
    const release = rails.holdMessages();
    const calls = Array.from({ length: 9 }, () => under.grpc.call(rpcs.getPayment, { transaction_id: TRANSACTION_ID }));
    const refused = await Promise.race(calls);
    expect(refused.reason).to.equal("QUEUE_FULL");
    release();
    const codes = (await Promise.all(calls)).map(({ code }) => code);
    expect(codes.filter((code) => code !== refused.code)).to.have.length(8);
  });

  describe("ResolveTransaction", () => {
    const resolve = (outcome: ResolveTransactionRequest["outcome"], note = "") =>
      under.grpc.call(rpcs.resolveTransaction, { transaction_id: TRANSACTION_ID, outcome, note });

    for (const [what, outcome, resolution] of [
      [
        "completed",
        { $case: "completed", value: { rail_receipt: "RKTQDM7W01" } } as const,
        { kind: "COMPLETED", receipt: "RKTQDM7W01" },
      ],
      ["failed", { $case: "failed", value: {} } as const, { kind: "FAILED" }],
      [
        "moved",
        { $case: "moved", value: { amount: "99.00", rail_receipt: "sandbox:SB2" } } as const,
        { kind: "MOVED", amountCents: 9_900, receipt: "sandbox:SB2" },
      ],
    ] as const) {
      it(`submits the outcome ${what}, in the name of the key`, async () => {
        expect((await resolve(outcome, "seen on the statement")).code).to.equal(Status.OK);
        const [{ authority, ...command } = {}, ...others] = commands() as { authority?: Authority }[];
        expect(authority?.newProposalId).to.match(/^prp_/);
        expect(authority).to.include({ person: "tests", mayApprove: true });
        expect([command, ...others]).to.deep.equal([
          {
            name: "resolveTransaction",
            organizationId: ORGANIZATION,
            actor: KEY_ID,
            transactionId: TRANSACTION_ID,
            resolution,
            facts: { newTransactionId: "txn_01jd2r6p5vf8ksw3xhb1z7q400", note: "seen on the statement" },
          },
        ]);
      });
    }

    it("says whether another person must say the same", async () => {
      const proposed = await resolve({ $case: "failed", value: {} });
      expect(proposed.response?.state).to.equal(ResolutionState.RESOLUTION_STATE_PROPOSED);
      resource = transaction({ ...OPEN, status: "FAILED", failure: "RESOLVED_BY_OPERATOR", openFlags: [] });
      const done = await resolve({ $case: "failed", value: {} });
      expect(done.response?.state).to.equal(ResolutionState.RESOLUTION_STATE_DONE);
      expect(done.response?.transaction?.failure?.reason).to.equal(FailureReason.FAILURE_REASON_RESOLVED_BY_PERSON);
    });

    for (const [what, outcome, fields] of [
      ["no outcome", undefined, ["completed"]],
      [
        "a completion without a receipt",
        { $case: "completed", value: { rail_receipt: "" } },
        ["completed.rail_receipt"],
      ],
      ["a receipt with a space", { $case: "completed", value: { rail_receipt: "R 1" } }, ["completed.rail_receipt"]],
      [
        "a receipt that is too long",
        { $case: "completed", value: { rail_receipt: "R".repeat(65) } },
        ["completed.rail_receipt"],
      ],
      [
        "a movement with nothing",
        { $case: "moved", value: { amount: "0", rail_receipt: "" } },
        ["moved.amount", "moved.rail_receipt"],
      ],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const refused = await resolve(outcome, "two\nlines");
        expect(refused.reason).to.equal("INVALID_FIELD");
        expect(refused.fields?.map(({ field }) => field)).to.deep.equal(["note", ...fields]);
      });
    }
  });

  describe("ClearFlag", () => {
    it("submits the flag", async () => {
      const request = {
        transaction_id: TRANSACTION_ID,
        flag: FlagReason.FLAG_REASON_NOT_CREDITED,
        note: "paid back by hand",
      };
      const { code, response } = await under.grpc.call(rpcs.clearFlag, request);
      expect([code, response?.transaction?.id]).to.deep.equal([Status.OK, TRANSACTION_ID]);
      const [{ authority, ...command } = {}] = commands() as { authority?: Authority }[];
      expect(authority?.person).to.equal("tests");
      expect(command).to.deep.equal({
        name: "clearFlag",
        organizationId: ORGANIZATION,
        actor: KEY_ID,
        transactionId: TRANSACTION_ID,
        flag: "NOT_CREDITED",
        note: "paid back by hand",
      });
    });
  });

  it("needs the scope transactions:resolve for what a person decides", async () => {
    const writer = await serve({ scopes: ["transactions:write", "transactions:read", "accounts:write"] });
    const common = { transaction_id: TRANSACTION_ID, note: "" };
    const replies = [
      await writer.grpc.call(rpcs.resolveTransaction, { ...common, outcome: { $case: "failed", value: {} } }),
      await writer.grpc.call(rpcs.clearFlag, { ...common, flag: FlagReason.FLAG_REASON_NOT_CREDITED }),
    ];
    await writer.close();
    const refusal = { reason: "SCOPE_REQUIRED", facts: { scope: "transactions:resolve" } };
    expect(replies.map(({ reason, facts }) => ({ reason, facts }))).to.deep.equal([refusal, refusal]);
  });
});
