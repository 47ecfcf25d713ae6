import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { TransactionCorrection, TransactionStatus, TransactionType } from "../../../src/gen/kesc/v1/transaction.js";
import {
  type ListTransactionsRequest,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import { toTimestamp } from "../../../src/grpc/messages/timestamp.js";
import type { PageRequest, TransactionFilters } from "../../../src/ledger/ports/reads.js";
import {
  ACCOUNT_ID,
  emptyReads,
  KEY_ID,
  ORGANIZATION,
  serve,
  type ServerUnderTest,
  transaction,
  TRANSACTION_ID,
} from "../../support/service/grpc-server.js";

const AT = toTimestamp(toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678)));

const MINT = {
  account_id: ACCOUNT_ID,
  amount: "1000.50",
  reference: "ref-1",
  description: "a deposit",
  metadata: new Map([["till", "12"]]),
};

const BAD = {
  account_id: "",
  amount: "1.005",
  reference: " r",
  rail: "M-Pesa",
  payer_phone_number: "12",
};

describe("grpc: TransactionService", () => {
  let under: ServerUnderTest;
  before(async () => {
    under = await serve();
  });
  after(() => under.close());
  beforeEach(() => {
    under.submitted.length = 0;
  });

  for (const name of ["mint", "redeem"] as const) {
    it(`${name} submits the parsed command and returns the transaction`, async () => {
      const { response, code } = await under.grpc.call(rpcs[name] as typeof rpcs.mint, MINT);
      expect(code).to.equal(Status.OK);
      expect(response?.transaction).to.deep.equal({
        id: TRANSACTION_ID,
        account_id: ACCOUNT_ID,
        type: TransactionType.TRANSACTION_TYPE_MINT,
        status: TransactionStatus.TRANSACTION_STATUS_COMPLETED,
        status_note: undefined,
        amount: "1000.00",
        reference: "ref-1",
        description: undefined,
        metadata: new Map([["till", "12"]]),
        rail: "direct",
        rail_receipt: undefined,
        failure: undefined,
        created_at: AT,
        updated_at: AT,
        completed_at: AT,
        warnings: [],
        held_for: [],
        corrects_transaction_id: undefined,
        correction: undefined,
        reversed_by_transaction_id: undefined,
        available_balance_after: "100.00",
        needs_attention: false,
        receipt: undefined,
        deposit_id: undefined,
        destination_id: undefined,
      });
      expect(under.submitted.map(({ command }) => command)).to.deep.equal([
        {
          name,
          organizationId: ORGANIZATION,
          actor: KEY_ID,
          newTransactionId: "txn_01jd2r6p5vf8ksw3xhb1z7q400",
          accountId: ACCOUNT_ID,
          amountCents: 100_050,
          reference: "ref-1",
          description: "a deposit",
          metadata: new Map([["till", "12"]]),
          rail: "direct",
          isRailNamed: false,
          receipt: undefined,
          destinationId: undefined,
          railTerms: undefined,
          idempotencyKey: undefined,
        },
      ]);
    });
  }

  it("passes the idempotency key on", async () => {
    await under.grpc.call(rpcs.mint, MINT, { metadata: { "idempotency-key": "try-1" } });
    expect((under.submitted[0]?.command as MoveMoney).idempotencyKey).to.equal("try-1");
  });

  it("submits the reversal, and shows the links of the transaction that it returns", async () => {
    const request = {
      transaction_id: "txn_original",
      description: "typed twice",
      metadata: new Map([["ticket", "9"]]),
      receipt: { source: "kcb-1234", number: "FT26330XK2" },
    };
    await under.grpc.call(rpcs.reverseTransaction, request, { metadata: { "idempotency-key": "try-1" } });
    expect(under.submitted[0]?.command).to.deep.equal({
      name: "reverseTransaction",
      organizationId: ORGANIZATION,
      actor: KEY_ID,
      transactionId: "txn_original",
      newTransactionId: "txn_01jd2r6p5vf8ksw3xhb1z7q400",
      description: "typed twice",
      metadata: new Map([["ticket", "9"]]),
      receipt: "kcb-1234:FT26330XK2",
      idempotencyKey: "try-1",
    });
  });

  it("shows both ends of a reversal, and no balance before the transaction is completed", async () => {
    const rows = [
      transaction({ corrects: { kind: "REVERSAL", transactionId: "txn_1" as TransactionId } }),
      transaction({ reversedById: "txn_2" as TransactionId }),
      transaction({ status: "PENDING", availableAfterCents: undefined, completedAt: undefined }),
    ];
    const read = await serve({
      reads: { ...emptyReads, transactions: () => Promise.resolve({ rows, nextBeforeSeq: undefined, lookedAt: 1 }) },
    });
    try {
      const { response } = await read.grpc.call(rpcs.listTransactions, {});
      const shown = response?.transactions.map((each) => [
        each.corrects_transaction_id,
        each.correction,
        each.reversed_by_transaction_id,
        each.available_balance_after,
      ]);
      const { TRANSACTION_CORRECTION_REVERSAL: reversal } = TransactionCorrection;
      expect(shown).to.deep.equal([
        ["txn_1", reversal, undefined, "100.00"],
        [undefined, undefined, "txn_2", "100.00"],
        [undefined, undefined, undefined, undefined],
      ]);
    } finally {
      await read.close();
    }
  });

  it("submits the cancellation with the caller's note", async () => {
    await under.grpc.call(rpcs.cancelTransaction, { transaction_id: TRANSACTION_ID, note: "typed twice" });
    expect(under.submitted[0]?.command).to.deep.equal({
      name: "cancelTransaction",
      organizationId: ORGANIZATION,
      actor: KEY_ID,
      transactionId: TRANSACTION_ID,
      reason: "typed twice",
    });
  });

  it("names every bad field of a mint at once", async () => {
    const { code, fields } = await under.grpc.call(
      rpcs.mint,
      { ...BAD, description: "two\nlines", metadata: new Map([["", "x"]]) },
      { metadata: { "idempotency-key": "two words" } },
    );
    expect(code).to.equal(Status.INVALID_ARGUMENT);
    expect(fields?.map(({ field }) => field)).to.deep.equal([
      "account_id",
      "amount",
      "reference",
      "description",
      "metadata",
      "rail",
      "payer_phone_number",
      "idempotency-key",
    ]);
    expect(fields?.[0]).to.deep.equal({ field: "account_id", message: "is required", code: "REQUIRED" });
    expect(under.submitted).to.deep.equal([]);
  });
});

const {
  TRANSACTION_STATUS_PENDING: PENDING,
  TRANSACTION_STATUS_COMPLETED: COMPLETED,
  TRANSACTION_STATUS_FAILED: FAILED,
  TRANSACTION_STATUS_CANCELED: CANCELED,
} = TransactionStatus;

describe("grpc: TransactionService/ListTransactions", () => {
  const asked: { organizationId: string; filters: TransactionFilters; page: PageRequest }[] = [];
  let under: ServerUnderTest;
  before(async () => {
    under = await serve({
      reads: {
        ...emptyReads,
        transactions: async (organizationId, filters, page) => {
          asked.push({ organizationId, filters, page });
          return Promise.resolve({
            rows: [transaction()],
            nextBeforeSeq: page.beforeSeq === undefined ? 7 : undefined,
            lookedAt: 1,
          });
        },
      },
    });
  });
  after(() => under.close());
  beforeEach(() => {
    asked.length = 0;
  });

  it("asks for the first hundred of all transactions by default", async () => {
    const { response } = await under.grpc.call(rpcs.listTransactions, {});
    expect(asked).to.deep.equal([
      { organizationId: ORGANIZATION, filters: {}, page: { size: 100, beforeSeq: undefined } },
    ]);
    expect(response?.transactions).to.have.length(1);
  });

  it("passes every filter on", async () => {
    await under.grpc.call(rpcs.listTransactions, {
      account_id: ACCOUNT_ID,
      type: TransactionType.TRANSACTION_TYPE_REDEEM,
      statuses: [PENDING, FAILED, PENDING],
      rail: "mpesa",
      correction: TransactionCorrection.TRANSACTION_CORRECTION_LATE,
      reference: "ref-1",
      receipt: "kcb-1234:FT26330XK2",
      start: "2026-01-01T00:00:00.001Z",
      end: "2026-01-01T00:00:00.002Z",
      min_amount: "10",
      max_amount: "1000.50",
      metadata: new Map([["till", "12"]]),
      page_size: 1000,
    });
    expect(asked[0]).to.deep.include({
      filters: {
        accountId: ACCOUNT_ID,
        type: "REDEEM",
        status: ["PENDING", "FAILED"],
        rail: "mpesa",
        correction: "LATE",
        reference: "ref-1",
        receipt: "kcb-1234:FT26330XK2",
        createdAfter: Date.UTC(2026, 0, 1) + 1,
        createdBefore: Date.UTC(2026, 0, 1) + 2,
        minAmountCents: 1_000,
        maxAmountCents: 100_050,
        metadata: new Map([["till", "12"]]),
      },
      page: { size: 1000, beforeSeq: undefined },
    });
  });

  for (const [name, change, field] of [
    ["an account id with a line feed", { account_id: "acc_\n" }, "account_id"],
    ["a type that it does not know", { type: TransactionType.UNRECOGNIZED }, "type"],
    ["a status that it does not know", { statuses: [PENDING, TransactionStatus.UNRECOGNIZED] }, "statuses"],
    ["an unspecified status", { statuses: [TransactionStatus.TRANSACTION_STATUS_UNSPECIFIED] }, "statuses"],
    ["a receipt with a space", { receipt: "kcb-1234: FT" }, "receipt"],
    ["a negative page size", { page_size: -1 }, "page_size"],
    ["a page size of 1001", { page_size: 1001 }, "page_size"],
    ["a day that no month has", { start: "2026-02-30" }, "start"],
    ["a token that nobody made", { page_token: "AAAA" }, "page_token"],
  ] as const) {
    it(`refuses ${name}`, async () => {
      const request = change as unknown as Partial<ListTransactionsRequest>;
      const { code, fields } = await under.grpc.call(rpcs.listTransactions, request);
      expect(code).to.equal(Status.INVALID_ARGUMENT);
      expect(fields?.map((problem) => problem.field)).to.deep.equal([field]);
      expect(asked).to.deep.equal([]);
    });
  }

  it("takes a range of amounts that is one amount, and a bad end apart from the start", async () => {
    const one = await under.grpc.call(rpcs.listTransactions, { min_amount: "5", max_amount: "5.00" });
    expect(one.code).to.equal(Status.OK);
    expect(asked[0]?.filters).to.deep.equal({ minAmountCents: 500, maxAmountCents: 500 });
    const { fields } = await under.grpc.call(rpcs.listTransactions, { min_amount: "x", max_amount: "y" });
    expect(fields?.map(({ field }) => field)).to.deep.equal(["min_amount", "max_amount"]);
  });

  it("takes all statuses as no filter", async () => {
    const statuses = [PENDING, TransactionStatus.TRANSACTION_STATUS_PROCESSING, COMPLETED, FAILED, CANCELED];
    await under.grpc.call(rpcs.listTransactions, { statuses });
    expect(asked[0]?.filters).to.deep.equal({});
  });

  it("takes the token of the same filters in another order, and of no other value", async () => {
    const metadata = (...all: [string, string][]): { metadata: Map<string, string> } => ({ metadata: new Map(all) });
    const asking = { statuses: [FAILED, PENDING], ...metadata(["a", "1"], ["b", "2"]) };
    const first = await under.grpc.call(rpcs.listTransactions, asking);
    const again = { ...asking, page_token: first.response?.next_page_token ?? "" };
    for (const [change, code] of [
      [{}, Status.OK],
      [{ statuses: [PENDING, FAILED] }, Status.OK],
      [metadata(["b", "2"], ["a", "1"]), Status.OK],
      [metadata(["a", "2"], ["b", "1"]), Status.INVALID_ARGUMENT],
      [metadata(["a", "1"]), Status.INVALID_ARGUMENT],
      [{ metadata: new Map() }, Status.INVALID_ARGUMENT],
      [{ statuses: [FAILED] }, Status.INVALID_ARGUMENT],
      [{ min_amount: "0.01" }, Status.INVALID_ARGUMENT],
    ] as const) {
      const reply = await under.grpc.call(rpcs.listTransactions, {
        ...again,
        ...(change as Partial<ListTransactionsRequest>),
      });
      expect(reply.code, JSON.stringify(change)).to.equal(code);
    }
  });

  it("refuses the token of a list with other filters", async () => {
    const first = await under.grpc.call(rpcs.listTransactions, {});
    const page_token = first.response?.next_page_token ?? "";
    const refused = await under.grpc.call(rpcs.listTransactions, { reference: "ref-2", page_token });
    expect(refused).to.deep.include({
      reason: "INVALID_FIELD",
      fields: [
        {
          field: "page_token",
          message: "must be the next_page_token of a list with the same filters",
          code: "CONFLICT",
        },
      ],
    });
  });
});
