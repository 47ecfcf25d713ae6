import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { type CallbackAnswer, Client } from "./client.js";

const PAYMENT = { msisdn: "254700000049", amountCents: 1_000, accountReference: "acc" };

describe("C2B at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  it("confirms a payment without a prompt, in texts, with the phone masked and the new balance", async () => {
    const { status, body } = await client.registerUrls();
    expect(status).to.equal(200);
    expect(body).to.have.property("OriginatorCoversationID");
    const receipt = await client.daraja.deposit(PAYMENT);
    expect(
      client.received.map(({ path }) => path),
      "no validation",
    ).to.deep.equal(["/confirmations"]);
    expect(client.lastAt("/confirmations")).to.deep.equal({
      TransactionType: "Pay Bill",
      TransID: receipt.number,
      TransTime: "20260105090000",
      TransAmount: "10",
      BusinessShortCode: "174379",
      BillRefNumber: "acc",
      InvoiceNumber: "",
      OrgAccountBalance: "1000010.00",
      ThirdPartyTransID: "",
      MSISDN: "2547 ***** 049",
      FirstName: "Jane",
      MiddleName: "",
      LastName: "Doe",
    });
    expect(client.daraja.organization.utilityCents).to.equal(100_001_000);
  });

  it("confirms a paid prompt besides its callback, with the ids of the prompt", async () => {
    await client.registerUrls();
    const { body } = await client.push("254700000000");
    await client.clock.advance(5_000);
    expect(client.received.map(({ path }) => path)).to.deep.equal(["/callbacks/a0", "/confirmations"]);
    expect(client.lastAt("/confirmations")).to.include({
      TransID: client.daraja.receipts[0]?.number,
      ThirdPartyTransID: body?.["MerchantRequestID"],
      BillRefNumber: "INVOICE-1",
    });
  });

  it("hides the phone in a hash, if the addresses were registered by v1", async () => {
    await client.registerUrls({}, "v1");
    await client.daraja.deposit(PAYMENT);
    // printf %s 254700000049 | sha256sum
    const hash = "4ec64e509adef5b71ad6023f7d299c552c417fd434e081b006921a7caf257814";
    expect(client.lastAt("/confirmations")).to.include({ MSISDN: hash });
  });

  it("registers addresses by the version that the app has", async () => {
    await client.control("/settings", { c2b_version: 1 });
    const { status, body } = await client.registerUrls();
    expect(status).to.equal(401);
    const errorMessage = "Invalid API call as no apiproduct match found";
    expect(body).to.include({ errorCode: "401.003.01", errorMessage });
    expect((await client.registerUrls({}, "v1")).status).to.equal(200);
  });

  describe("by the ending of the payer's phone", () => {
    const BALANCE_CENTS = 100_000_000;

    async function paidFrom(ending: string): Promise<Readonly<Record<string, unknown>>> {
      await client.registerUrls();
      return client.control("/payments", { phone_number: `2547000000${ending}`, amount: 10, account_reference: "acc" });
    }

    for (const [ending, confirmations] of [
      ["00", 1],
      ["05", 0],
      ["06", 2],
    ] as const) {
      it(`${ending}: confirms a payment ${String(confirmations)} times`, async () => {
        expect(await paidFrom(ending)).to.include({ status: 201 });
        expect(client.received).to.have.length(confirmations);
        expect(client.daraja.organization.utilityCents).to.equal(BALANCE_CENTS + 1_000);
        expect(client.daraja.receipts).to.have.length(1);
      });
    }

    it("11: confirms a payment a minute later", async () => {
      expect(await paidFrom("11")).to.include({ status: 201 });
      await client.clock.advance(59_999);
      expect(client.received).to.deep.equal([]);
      await client.clock.advance(1);
      expect(client.lastAt("/confirmations")).to.include({ TransTime: "20260105090000", TransAmount: "10" });
    });

    it("07: confirms a payment that never was", async () => {
      const answer = await paidFrom("07");
      expect(answer).to.include({ status: 200, receipt: null });
      expect(client.lastAt("/confirmations")).to.include({
        TransID: answer["forged_receipt"],
        TransAmount: "10",
        OrgAccountBalance: "1000010.00",
      });
      expect(client.daraja.callbacks[0]?.isForged).to.equal(true);
      expect(client.daraja.receipts).to.deep.equal([]);
      expect(client.daraja.organization.utilityCents).to.equal(BALANCE_CENTS);
      await client.queryStatus({ TransactionID: answer["forged_receipt"], OriginalConversationID: undefined });
      await client.clock.advance(2_000);
      expect(client.lastAt("/callbacks/c0")).to.have.nested.property("Result.ResultCode", "R000002");
    });
  });

  it("registers addresses once, and only right ones", async () => {
    for (const field of ["ResponseType", "ConfirmationURL", "ValidationURL", "ShortCode"]) {
      expect((await client.registerUrls({ [field]: "600000" })).body?.["errorMessage"]).to.equal(
        `Bad Request - Invalid ${field}`,
      );
    }
    await client.registerUrls();
    const { status, body } = await client.registerUrls();
    expect([status, body?.["errorCode"]]).to.deep.equal([500, "500.003.1001"]);
  });

  describe("with validation", () => {
    beforeEach(() => {
      client.daraja.organization.isValidationActive = true;
    });

    it("asks before the money moves, with the body and the id of the confirmation", async () => {
      await client.registerUrls();
      client.answers.set("/validations", {
        body: '{"ResultCode":"0","ResultDesc":"Accepted","ThirdPartyTransID":"our-7"}',
      });
      const receipt = await client.daraja.deposit(PAYMENT);
      expect(client.received.map(({ path }) => path)).to.deep.equal(["/validations", "/confirmations"]);
      const asked = client.lastAt("/validations") as object;
      expect(asked).to.include({ TransID: receipt.number, OrgAccountBalance: "", ThirdPartyTransID: "" });
      const changed = { OrgAccountBalance: "1000010.00", ThirdPartyTransID: "our-7" };
      expect(client.lastAt("/confirmations")).to.deep.equal({ ...asked, ...changed });
      expect(receipt.validation).to.equal("accepted");
    });

    it("moves nothing when the business refuses, and remembers the code", async () => {
      await client.registerUrls();
      client.answers.set("/validations", { body: '{"ResultCode":"C2B00012","ResultDesc":"Rejected"}' });
      const refused = await client.control("/payments", {
        phone_number: PAYMENT.msisdn,
        amount: 10,
        account_reference: "acc",
      });
      const payment = { shortcode: "174379", phone_number: PAYMENT.msisdn, amount: 10, code: "C2B00012" };
      const error = "The ValidationURL refused the payment: C2B00012, Invalid Account Number";
      expect(refused).to.include({ status: 409, error, ...payment });
      expect(client.daraja.receipts).to.deep.equal([]);
      expect(client.daraja.organization.utilityCents).to.equal(100_000_000);
      expect(client.received.map(({ path }) => path)).to.deep.equal(["/validations"]);
      const state = await client.control("");
      expect(state).to.have.nested.property("refused_payments[0]").that.includes(payment);
      expect(await (await fetch(client.daraja.url)).text()).to.contain("<td>C2B00012</td>");
    });

    for (const [name, answer] of [
      ["another status", { status: 503, body: '{"ResultCode":"0"}' }],
      ["unreadable JSON", { body: '{"ResultCode":"0"' }],
      ["JSON without a code", { body: "null" }],
    ] satisfies [string, CallbackAnswer][]) {
      for (const [responseType, kind] of [
        ["Completed", "paid"],
        ["Cancelled", "refused"],
      ] as const) {
        it(`takes ${name} for no answer: with ${responseType} the payment is ${kind}`, async () => {
          await client.registerUrls({ ResponseType: responseType });
          client.answers.set("/validations", answer);
          const end = await client.daraja.payByHand(PAYMENT);
          expect(end.kind).to.equal(kind);
          expect(end).to.have.nested.property(kind === "paid" ? "receipt.validation" : "payment.code", "unreachable");
          expect(client.daraja.receipts).to.have.length(kind === "paid" ? 1 : 0);
        });
      }
    }

    it("waits eight seconds for the answer", async () => {
      await client.registerUrls({ ResponseType: "Cancelled" });
      client.answers.set("/validations", {});
      const paying = client.daraja.payByHand(PAYMENT);
      await eventually(() => client.received.length === 1);
      expect(client.clock.nextMillis).to.equal(client.clock.nowMillis() + 8_000);
      await client.clock.advance(8_000);
      expect(await paying).to.have.nested.property("payment.code", "unreachable");
    });
  });

  it("changes its settings while it runs", async () => {
    const settings = {
      c2b_version: 1,
      confirms_as: "store",
      c2b_registration: "again",
      till_identifier_type: 2,
      reversal_identifier_type: null,
      b2c_ids: "optional",
      status_result: "2033",
      org_info_success: "0",
      ids_used_by: "payment",
      message_forms: "alternating",
      http_callbacks: "private",
      is_initiator_locked: true,
      lacks_initiator_role: true,
      lacks_product: "/mpesa/b2c",
      is_validation_active: true,
      is_pull_provisioned: false,
      pull_offset: "pages",
      pull_times: "Z",
      pull_lag_seconds: 90,
    };
    const changed = await client.control("/settings", settings);
    expect(changed).to.deep.include({ status: 200, shortcode: "174379", settings });
    const { c2bVersion, confirmsAs, isValidationActive, isPullProvisioned, pullOffset, pullLagMillis } =
      client.daraja.organization;
    const changedTo = [c2bVersion, confirmsAs, isValidationActive, isPullProvisioned, pullOffset, pullLagMillis];
    expect(changedTo).to.deep.equal([1, "store", true, false, "pages", 90_000]);
    for (const [body, error] of [
      [{ is_validation_active: "yes" }, /^is_validation_active must be true or false$/],
      [{ is_pull_provisioned: 1 }, /^is_pull_provisioned must be true or false$/],
      [{ pull_offset: "row" }, /^pull_offset must be "rows" or "pages"$/],
      [{ pull_lag_seconds: -1 }, /^pull_lag_seconds must be a number from 0 to 172800: 48 hours$/],
      [{ confirms_as: "paybill" }, /^confirms_as must be "till" or "store"$/],
      [{ c2b_version: 3 }, /^c2b_version must be null or 1 or 2$/],
      [{ c2b_registration: null }, /^c2b_registration must be "once" or "again"$/],
      [{ is_initiator_locked: 1 }, /^is_initiator_locked must be true or false$/],
      [{ is_validated: true }, /^Unknown setting is_validated. Settings are c2b_version, c2b_registration, /],
      [{ shortcode: "600000" }, /^shortcode must be one of the simulator's$/],
    ] as const) {
      const refused = await client.control("/settings", body);
      expect(refused["status"]).to.equal(400);
      expect(refused["error"]).to.match(error);
    }
  });
});
