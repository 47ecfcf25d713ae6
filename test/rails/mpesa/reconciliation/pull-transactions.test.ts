import { expect } from "chai";

import { toUnixMillis } from "../../../../src/domain/values/time.js";
import type { MpesaRail } from "../../../../src/rails/mpesa/mpesa.js";
import type { ReceivedPayments } from "../../../../src/rails/rail.js";
import { NOW, PHONE } from "../../support/orders.js";
import { ACCOUNT_UUID, mpesaRail } from "../mpesa-rail.js";
import { afterToken, answering, resetting, type Respond, StubServer } from "../stub-server.js";

const NEVER = new AbortController().signal;
/** It ends within a second. */
const PERIOD = { from: toUnixMillis(NOW - 48 * 3_600_000), to: toUnixMillis(NOW - 999) };

function row(receipt: string, given: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    transactionId: receipt,
    trxDate: "2026-11-22T09:13:00+03:00",
    msisdn: 708374149,
    sender: "MPESA",
    transactiontype: "c2b-pay-bill-debit",
    billreference: "W3XHB1Z7Q4YE",
    amount: "168.00",
    organizationname: "Duka Ltd",
    ...given,
  };
}

function page(...rows: readonly unknown[]): Respond {
  return answering(200, { ResponseCode: "1000", Response: [rows] });
}

const ROWS_OF_PAGE = 10;
const NO_ROWS = answering(200, { ResponseCode: "1001", ResponseMessage: "No transactions found", Response: [[]] });

describe("the list of the payments that M-Pesa received", () => {
  let stub: StubServer;
  let rail: MpesaRail;

  async function serving(...responds: readonly Respond[]): Promise<void> {
    stub = await StubServer.start(afterToken(...responds));
    rail = mpesaRail({ baseUrl: stub.url });
  }

  const listed = (): Promise<ReceivedPayments> => rail.receivedPayments(PERIOD, NEVER);

  afterEach(() => stub.stop());

  it("asks for a period with the whole of its last second, and again until nothing is new", async () => {
    await serving(page(row("NLJ7RT61SA"), row("NLJ7RT61SB")), NO_ROWS, NO_ROWS);
    expect((await listed()).kind).to.equal("complete");
    expect(stub.orders.map(({ body }) => body)).to.deep.equal(
      ["0", "2", "1"].map((OffSetValue) => ({
        ShortCode: "174379",
        StartDate: "2026-11-20 13:15:00",
        EndDate: "2026-11-22 13:15:00",
        OffSetValue,
      })),
    );
  });

  // Sources differ on what an offset counts, and none has said it of every shortcode.
  for (const [what, beginOf] of [
    ["rows", (offset: number) => offset],
    ["pages from 0", (offset: number) => offset * ROWS_OF_PAGE],
    ["pages from 1", (offset: number) => Math.max(offset - 1, 0) * ROWS_OF_PAGE],
  ] as const) {
    for (const count of [0, 1, 2, 9, 10, 11, 12, 20, 21, 35, 245]) {
      it(`has each of ${String(count)} payments, where an offset counts ${what}`, async () => {
        const receipts = Array.from({ length: count }, (_, index) => `NLJ7R${String(index).padStart(5, "0")}`);
        await serving((response, request) => {
          const begin = beginOf(Number(request.body["OffSetValue"]));
          const rows = receipts.slice(begin, begin + ROWS_OF_PAGE).map((receipt) => row(receipt));
          (rows.length === 0 ? NO_ROWS : page(...rows))(response, request);
        });
        const received = await listed();
        expect(received.kind === "complete" && received.payments.map(({ receipt }) => receipt).sort()).to.deep.equal(
          receipts,
        );
        expect(stub.orders.length).to.be.at.most(2 * Math.ceil(count / ROWS_OF_PAGE) + 3);
      });
    }
  }

  it("follows the number of pages that the answer tells, past a page with nothing new", async () => {
    const first = answering(200, { ResponseCode: "1000", TotalPages: 3, Response: [[row("NLJ7RT61SA")]] });
    await serving(first, first, first, first, page(row("NLJ7RT61SB")));
    const received = await listed();
    expect(received.kind === "complete" && received.payments).to.have.length(2);
    expect(stub.orders.map(({ body }) => body["OffSetValue"])).to.deep.equal(["0", "1", "1", "2", "3"]);
  });

  it("has each payment's receipt, amount, reference and masked phone number", async () => {
    const typed = row("NLJ7RT61SB", { billreference: 23456789 });
    await serving(page(row("NLJ7RT61SA", { billreference: "" }), typed), NO_ROWS);
    expect(await listed()).to.deep.equal({
      kind: "complete",
      payments: [
        {
          receipt: "NLJ7RT61SA",
          amountCents: 168_00,
          reference: "",
          idEnd: undefined,
          phone: "254******149",
          receivedAt: Date.parse("2026-11-22T06:13:00Z"),
        },
        {
          receipt: "NLJ7RT61SB",
          amountCents: 168_00,
          reference: "23456789",
          idEnd: undefined,
          phone: "254******149",
          receivedAt: Date.parse("2026-11-22T06:13:00Z"),
        },
      ],
      unreadable: [],
      others: [],
    });
  });

  for (const [trxDate, said] of [
    ["2026-11-22T09:13:00Z", "UTC"],
    ["2026-11-22T09:13:00.000+00:00", "UTC"],
    ["2026-11-22 09:13:00", "nothing"],
    ["2026-11-22 09:13", "nothing"],
  ] as const) {
    it(`leaves open in which zone ${trxDate} is`, async () => {
      await serving(page(row("NLJ7RT61SA", { trxDate })), NO_ROWS);
      const received = await listed();
      if (received.kind === "failed") throw new Error(received.code);
      expect(received.payments[0]).to.deep.include({
        receivedAt: undefined,
        doubtful: {
          ifUtc: Date.parse("2026-11-22T09:13:00Z"),
          ifLocal: Date.parse("2026-11-22T06:13:00Z"),
          saysUtc: said === "UTC",
        },
      });
    });
  }

  it("lists only a customer's payment as one, and a row of another kind beside it", async () => {
    const kinds = [
      "c2b-buy-goods-debit",
      "merchant-to-organization-settlement",
      "a-new-kind",
      "Of 254708374149",
      undefined,
    ];
    const rows = kinds.map((transactiontype, index) => row(`NLJ7RT61S${String(index)}`, { transactiontype }));
    await serving(page(...rows), NO_ROWS);
    const received = await listed();
    if (received.kind === "failed") throw new Error(received.code);
    expect(received.payments.map(({ receipt }) => receipt)).to.deep.equal(["NLJ7RT61S0"]);
    expect(received.others?.map(({ receipt, kind, isKnown }) => [receipt, kind, isKnown])).to.deep.equal([
      ["NLJ7RT61S1", "merchant-to-organization-settlement", true],
      ["NLJ7RT61S2", "a-new-kind", false],
      ["NLJ7RT61S3", "", false],
      ["NLJ7RT61S4", "", false],
    ]);
    expect(received.unreadable).to.deep.equal([]);
  });

  it("is a list where all rows are of other kinds", async () => {
    const transactiontype = "merchant-to-organization-settlement";
    await serving(page(row("NLJ7RT61SA", { transactiontype }), row("NLJ7RT61SB", { transactiontype })), NO_ROWS);
    expect(await listed()).to.deep.include({ kind: "complete", payments: [], unreadable: [] });
  });

  it("ends where the rail repeats a page for ever", async () => {
    await serving(page(row("NLJ7RT61SA")));
    const received = await listed();
    expect(received.kind === "complete" && received.payments).to.have.length(1);
    expect(stub.orders).to.have.length(4);
  });

  it("is no list at all after a thousand requests", async () => {
    let count = 0;
    await serving((response, request) => {
      count += 1;
      page(row(`NLJ7R${String(count).padStart(5, "0")}`))(response, request);
    });
    expect(await listed()).to.deep.equal({ kind: "failed", code: "TOO_MANY_PAGES" });
    expect(count).to.equal(1_000);
  });

  for (const [what, second, code] of [
    ["a page that is no list", answering(200, { ResponseCode: "1000", Response: "none" }), "MALFORMED_ANSWER"],
    [
      "a page of lists of which one is no list",
      answering(200, { ResponseCode: "1000", Response: [[], null] }),
      "MALFORMED_ANSWER",
    ],
    ["another ResponseCode", answering(200, { ResponseCode: "1002" }), "1002"],
    ["an error", answering(500, { errorCode: "500.003.1001" }), "500.003.1001"],
    ["a page of a proxy", answering(502, "<html></html>"), "HTTP_502"],
  ] as const) {
    it(`is no list at all after ${what}`, async () => {
      await serving(page(row("NLJ7RT61SA")), second);
      expect(await listed()).to.deep.equal({ kind: "failed", code });
    });
  }

  it("is no list at all where no row of several can be read: their form has changed", async () => {
    await serving(page(row("NLJ7RT61SA", { amount: "x" }), row("NLJ7RT61SB", { amount: "x" })), NO_ROWS);
    expect(await listed()).to.deep.equal({ kind: "failed", code: "MALFORMED_ANSWER" });
  });

  for (const [what, unreadable, receipt] of [
    ["without a receipt", row(""), undefined],
    ["with a receipt of another form", row("x y"), undefined],
    ["without an amount", row("NLJ7RT61SB", { amount: undefined }), "NLJ7RT61SB"],
    ["with an amount that is no number", row("NLJ7RT61SB", { amount: "x" }), "NLJ7RT61SB"],
    ["with the amount 0", row("NLJ7RT61SB", { amount: "0.00" }), "NLJ7RT61SB"],
    ["with a negative amount", row("NLJ7RT61SB", { amount: -168 }), "NLJ7RT61SB"],
    ["with a third digit of cents", row("NLJ7RT61SB", { amount: "1.005" }), "NLJ7RT61SB"],
    ["that is a text", "x", undefined],
    ["that is null", null, undefined],
  ] as const) {
    it(`tells a row ${what}, and lists the others with their cents`, async () => {
      const last = page(row("NLJ7RT61SC", { amount: 10.5 }));
      await serving(page(row("NLJ7RT61SA"), unreadable), page(row("NLJ7RT61SX", { amount: 0 })), last, NO_ROWS);
      const received = await listed();
      if (received.kind === "failed") throw new Error(received.code);
      const amounts = received.payments.map(({ receipt: each, amountCents }) => [each, amountCents]);
      expect(amounts).to.deep.equal([
        ["NLJ7RT61SA", 168_00],
        ["NLJ7RT61SC", 10_50],
      ]);
      expect(received.unreadable.map((each) => each.receipt)).to.deep.equal([receipt, "NLJ7RT61SX"]);
      expect(stub.orders.map(({ body }) => body["OffSetValue"])).to.deep.equal(["0", "2", "3", "4", "1"]);
    });
  }

  it("lists a payment also where a row that cannot be read has its receipt, and one such row alone", async () => {
    const unreadable = row("NLJ7RT61SA", { amount: "0" });
    await serving(page(unreadable, row("NLJ7RT61SA"), unreadable), NO_ROWS);
    const [payments, told] = [["NLJ7RT61SA"], ["NLJ7RT61SA"]];
    const receiptsOf = (received: ReceivedPayments) =>
      received.kind === "complete" &&
      [received.payments, received.unreadable].map((rows) => rows.map(({ receipt }) => receipt));
    expect(receiptsOf(await listed())).to.deep.equal([payments, told]);
    await stub.stop();
    await serving(page(unreadable), NO_ROWS);
    expect(receiptsOf(await listed())).to.deep.equal([[], told]);
  });

  it("is no list at all after a reset", async () => {
    await serving(page(row("NLJ7RT61SA")), resetting);
    expect((await listed()).kind).to.equal("failed");
  });

  for (const [what, httpStatus, body] of [
    ["names with blanks", 200, { "Response Status": "1000", "Response Description": "Registered" }],
    ["a code of success", 200, { ResponseCode: "00000000", ResponseDescription: "Success" }],
    ["0", 200, { ResponseCode: "0" }],
    ["no code", 200, { ResponseDescription: "Short Code 174379 Registered Successfully" }],
    ["names with blanks, done before", 200, { "Response Status": "1001" }],
    ["an error, done before", 500, { errorCode: "500.003.1001", errorMessage: "ShortCode already Registered" }],
  ] as const) {
    it(`is registered by an answer with ${what}`, async () => {
      await serving(answering(httpStatus, body));
      expect(await rail.registerForReceivedPayments(PHONE, NEVER)).to.equal(undefined);
    });
  }

  it("needs a registration, which may have been made before", async () => {
    await serving(
      answering(200, { "Response Status": "1000", "Response Description": "registered" }),
      answering(200, { ResponseStatus: "1001" }),
      answering(200, { ResponseStatus: "1002" }),
      answering(400, { errorCode: "400.002.02" }),
      resetting,
    );
    const register = (): Promise<string | undefined> => rail.registerForReceivedPayments(PHONE, NEVER);
    expect(await register()).to.equal(undefined);
    expect(stub.orders[0]).to.deep.include({
      path: "/pulltransactions/v1/register",
      body: {
        ShortCode: "174379",
        RequestType: "Pull",
        NominatedNumber: "254708374149",
        CallBackURL: `https://kesc.test/callbacks/balance/${ACCOUNT_UUID}`,
      },
    });
    expect(await register()).to.equal(undefined);
    expect(await register()).to.equal("1002 /pulltransactions/v1/register");
    expect(await register()).to.equal("400.002.02 /pulltransactions/v1/register");
    expect(await register()).to.be.a("string");
  });
});
