import { expect } from "chai";
import fc from "fast-check";

import type { TransactionId } from "../../src/domain/values/ids.js";
import { maskMessage } from "../../src/rails/mask.js";
import { isStillProcessing } from "../../src/rails/mpesa/messages.js";
import { b2cResult, stkCallback } from "./mpesa/messages.js";

/** Masks a value, as JSON. */
function masked(value: unknown): unknown {
  return JSON.parse(maskMessage(JSON.stringify(value)));
}

describe("the mask of a message", () => {
  for (const [what, message, stored] of [
    ["a phone number in a field", { MSISDN: "254708374149" }, { MSISDN: "254******149" }],
    ["a phone number as a JSON number", { PartyB: 254708374149 }, { PartyB: "254******149" }],
    ["a phone number in local form", { anything: "0708374149" }, { anything: "254******149" }],
    [
      "a phone number beside its label",
      { Item: [{ Name: "PhoneNumber", Value: 254708374149 }] },
      { Item: [{ Name: "PhoneNumber", Value: "254******149" }] },
    ],
    [
      "a phone number and a name",
      { Key: "ReceiverPartyPublicName", Value: "254705912645 - NICHOLAS JOHN SONGOK" },
      { Key: "ReceiverPartyPublicName", Value: "254******645 - N***" },
    ],
    ["the name after a shortcode", { DebitPartyName: "600992 - Duka Ltd" }, { DebitPartyName: "600992 - D***" }],
    [
      "a name",
      { FirstName: "John", MiddleName: "", LastName: "Doe" },
      { FirstName: "J***", MiddleName: "", LastName: "D***" },
    ],
    ["the hash of a phone number", { MSISDN: "a1".repeat(32) }, { MSISDN: "***" }],
    [
      "the hash in a field of ids",
      { ThirdPartyTransID: `MSISDN ${"A1".repeat(32)}` },
      { ThirdPartyTransID: "MSISDN ***" },
    ],
    ["a phone number in a text", { x: "tel:254711222333" }, { x: "tel:254******333" }],
    [
      "a phone number in groups of digits",
      { x: "call 0711 222 333, or +254-711-222-333" },
      { x: "call 254******333, or 254******333" },
    ],
    [
      "a phone number and a name in a description",
      { ResultDesc: "Paid by JOHN KAMAU O'TIENO 254711222333." },
      { ResultDesc: "Paid by J*** K*** O*** 254******333." },
    ],
    ["a name in small letters in a description", { x: "sent to John Kamau" }, { x: "sent to J*** K***" }],
    ["who paid", { Payer: "JOHN KAMAU", sender: "Jane" }, { Payer: "J***", sender: "J***" }],
    [
      "all but known fields of the notice of a queue",
      {
        OriginatorConversationID: "txn_1",
        InitiatorName: "kesc",
        Amount: 40,
        PartyB: "254711222333",
        QueueTimeOutURL: "https://kesc.example/callbacks/01020304",
        ResultURL: "https://kesc.example/callbacks/01020304",
        anything: "JOHN",
      },
      { OriginatorConversationID: "txn_1", Amount: 40, PartyB: "254******333" },
    ],
    ["a secret", { SecurityCredential: "RC6E9WDx", Password: "MTc0" }, { SecurityCredential: "***", Password: "***" }],
  ] as const) {
    it(`hides ${what}`, () => {
      expect(masked(message)).to.deep.equal(stored);
    });
  }

  it("keeps ids, codes, amounts, times and balances", () => {
    const message = {
      MerchantRequestID: "29115-34620561-1",
      CheckoutRequestID: "ws_CO_191220191020363925",
      ConversationID: "AG_20240706_2010364430d9bbdaf872",
      ResultCode: 0,
      TransactionID: "SG632NMUAB",
      Item: [
        { Name: "Amount", Value: 10 },
        { Name: "TransactionDate", Value: 20191219102115 },
        { Name: "Balance" },
        { Name: "B2CUtilityAccountAvailableFunds", Value: 712345678 },
      ],
      AccountBalance: "Working Account|KES|700000.00|700000.00|0.00|0.00",
      nothing: null,
    };
    expect(masked(message)).to.deep.equal(message);
  });

  it("keeps descriptions without a name, and every word that says that the outcome is open", () => {
    for (const text of [
      "The service request is processed successfully.",
      "DS timeout user cannot be reached",
      "[STK_CB - ]Unable to lock subscriber, a transaction is already in process for the current subscriber",
      "Business Payment to Customer via API",
      "The transaction is STILL UNDER PROCESSING",
      "https://internalsandbox.safaricom.co.ke/mpesa/b2cresults/v1/submit",
    ]) {
      expect(masked({ ResultDesc: text })).to.deep.equal({ ResultDesc: text });
    }
    for (const before of ["", "JOHN ", "by John Kamau "]) {
      for (const open of ["TRANSACTION BEING PROCESSED", "UNDER PROCESSING", "PENDING", "Still Processing"]) {
        const stored = maskMessage(`"${before}${open} NOW"`);
        expect(isStillProcessing(stored), stored).to.equal(true);
      }
    }
  });

  it("hides the digits of a text that is no JSON, and keeps its beginning", () => {
    expect(maskMessage('{"MSISDN": "254708374149')).to.equal('{"MSISDN": "254******149');
    expect(maskMessage("no JSON: 1234567890123456")).to.equal("no JSON: ***");
    expect(maskMessage(`{"MSISDN": "${"a1".repeat(25)}`)).to.equal('{"MSISDN": "***');
    expect(maskMessage("no JSON of JOHN KAMAU")).to.equal("no JSON of J*** K***");
    expect(maskMessage("x".repeat(5_000))).to.have.length(100);
  });

  it("keeps no name of a message of M-Pesa that was cut off", () => {
    for (const body of [b2cResult({ transactionId: "txn_1" as TransactionId }), stkCallback()]) {
      const stored = maskMessage(body.slice(0, -10));
      expect(stored).to.have.length(100);
      expect(stored).not.to.match(/SONGOK|NICHOLAS|254708374149/);
    }
  });

  it("bears any depth", () => {
    expect(maskMessage(`${"[".repeat(30_000)}254708374149${"]".repeat(30_000)}`)).not.to.include("254708374149");
  });

  it("never throws, and changes nothing more the second time", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (body) => {
        const once = maskMessage(body);
        expect(maskMessage(once)).to.equal(once);
      }),
    );
  });

  it("lets no phone number through, wherever it stands", () => {
    const anyPhone = fc.integer({ min: 0, max: 99_999_999 }).map((count) => `2547${String(count).padStart(8, "0")}`);
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        anyPhone,
        fc.constantFrom("MSISDN", "PartyA", "x"),
        (value, phone, label) => {
          expect(
            maskMessage(
              JSON.stringify({ first: value, [label]: [phone, Number(phone), { Value: phone }, `by ${phone}.`] }),
            ),
          ).not.to.include(phone);
        },
      ),
    );
  });
});
