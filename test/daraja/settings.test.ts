import { expect } from "chai";

import { Client, encrypted } from "./client.js";

const PHONE = "254110000000";

describe("the points that Safaricom leaves open", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  it("let a B2C request go without an id, and make one, where b2c_ids is optional", async () => {
    const withoutId = { OriginatorConversationID: undefined };
    expect((await client.payOut(PHONE, withoutId)).status).to.equal(400);
    await client.control("/settings", { b2c_ids: "optional" });
    const { status, body } = await client.payOut(PHONE, withoutId);
    expect(status).to.equal(200);
    expect(body?.["OriginatorConversationID"]).to.match(/^\d{5}-\d{8}-1$/);
    expect((await client.payOut(PHONE)).body).to.include({ OriginatorConversationID: "txn_1" });
  });

  for (const [idsUsedBy, afterRefusal, afterFailure] of [
    ["acceptance", 200, 500],
    ["request", 500, 500],
    ["payment", 200, 200],
  ] as const) {
    it(`use an id up by ${idsUsedBy}`, async () => {
      await client.control("/settings", { ids_used_by: idsUsedBy });
      await client.payOut(PHONE, { Amount: "1.50", OriginatorConversationID: "refused" });
      expect((await client.payOut(PHONE, { OriginatorConversationID: "refused" })).status).to.equal(afterRefusal);
      await client.payOut("254110000001", { OriginatorConversationID: "failed" });
      await client.clock.advance(5_000);
      expect((await client.payOut(PHONE, { OriginatorConversationID: "failed" })).status).to.equal(afterFailure);
      await client.clock.advance(5_000);
      expect((await client.payOut(PHONE, { OriginatorConversationID: "failed" })).status, "once paid").to.equal(500);
    });
  }

  for (const status_result of ["25", "2032", "2033"]) {
    it(`end each status query with ${status_result}, where status_result says so`, async () => {
      await client.control("/settings", { status_result });
      await client.payOut(PHONE);
      await client.clock.advance(5_000);
      await client.queryStatus();
      await client.clock.advance(2_000);
      expect(client.lastAt("/callbacks/c0")).to.have.nested.property("Result.ResultCode", Number(status_result));
      expect(client.daraja.receipts).to.have.length(1);
    });
  }

  it("take a reversal with a RecieverIdentifierType of 11, or of 4, too", async () => {
    const { number } = await client.daraja.deposit({ msisdn: PHONE, amountCents: 1_000, accountReference: "acc" });
    const reversed = (type: string) => client.reverse(number, { Amount: 10, RecieverIdentifierType: type });
    expect([(await reversed("4")).status, (await reversed("11")).status]).to.deep.equal([400, 200]);
    await client.control("/settings", { reversal_identifier_type: null });
    expect([(await reversed("4")).status, (await reversed("1")).status]).to.deep.equal([200, 400]);
  });

  it("write Z behind the times of a list, though the clock is Nairobi's", async () => {
    await client.registerPull();
    await client.daraja.deposit({ msisdn: PHONE, amountCents: 1_000, accountReference: "acc" });
    const listed = async (): Promise<string> => {
      const { Response } = (await client.pull()).body as { Response: [[{ trxDate: string }]] };
      return Response[0][0].trxDate;
    };
    const right = await listed();
    await client.control("/settings", { pull_times: "Z" });
    expect(await listed()).to.equal(right.replace("+03:00", "Z"));
  });

  it("lock an initiator, and unlock it", async () => {
    const wrong = { SecurityCredential: encrypted("wrong") };
    for (const id of ["1", "2", "3"]) await client.payOut(PHONE, { OriginatorConversationID: id, ...wrong });
    expect(await client.control("")).to.have.nested.property("organizations[0].settings.is_initiator_locked", true);
    await client.control("/settings", { is_initiator_locked: false });
    await client.payOut(PHONE);
    await client.clock.advance(5_000);
    expect(client.daraja.receipts).to.have.length(1);
    await client.control("/settings", { is_initiator_locked: true });
    await client.payOut(PHONE, { OriginatorConversationID: "4" });
    await client.clock.advance(2_000);
    expect(client.lastAt("/callbacks/b0")).to.have.nested.property("Result.ResultCode", 8006);
  });

  it("take addresses of C2B once, or again and again", async () => {
    await client.registerUrls();
    expect((await client.registerUrls()).body?.["errorCode"]).to.equal("500.003.1001");
    await client.control("/settings", { c2b_registration: "again" });
    expect((await client.registerUrls({ ConfirmationURL: client.urlOf("/others") })).status).to.equal(200);
    await client.daraja.deposit({ msisdn: PHONE, amountCents: 1_000, accountReference: "acc" });
    expect(client.received.map(({ path }) => path)).to.deep.equal(["/others"]);
  });

  describe("HTTP for callbacks", () => {
    const PRIVATE = ["10.0.0.7", "172.17.0.1", "192.168.1.2", "app", "host.docker.internal", "[fd00::1]"];
    const PUBLIC = ["example.com", "172.32.0.1", "8.8.8.8", "[2001:db8::1]", "10.example.com"];

    async function statusWith(host: string): Promise<number> {
      const { status } = await client.registerUrls({ ConfirmationURL: `http://${host}:3000/confirm` });
      return status;
    }

    it("is for the loopback alone", async () => {
      for (const host of [...PRIVATE, ...PUBLIC]) expect(await statusWith(host), host).to.equal(400);
    });

    it("is for private addresses, where http_callbacks says so: those of containers", async () => {
      await client.control("/settings", { http_callbacks: "private", c2b_registration: "again" });
      for (const host of ["127.0.0.1", ...PRIVATE]) expect(await statusWith(host), host).to.equal(200);
      for (const host of PUBLIC) expect(await statusWith(host), host).to.equal(400);
    });
  });

  it("show other forms of amounts and phones in turn, where message_forms says so", async () => {
    await client.registerUrls();
    await client.registerPull();
    await client.control("/settings", { message_forms: "alternating" });
    const confirmations: unknown[] = [];
    for (const amountCents of [170_000, 200, 300]) {
      await client.daraja.deposit({ msisdn: "254700000049", amountCents, accountReference: "acc" });
      const { TransAmount, MSISDN } = client.lastAt("/confirmations") as Record<string, unknown>;
      confirmations.push([TransAmount, MSISDN]);
    }
    expect(confirmations).to.deep.equal([
      ["1700.00", "25470****049"],
      ["2", undefined],
      ["3", "2547 ***** 049"],
    ]);
    const { body } = await client.pull();
    expect(body).to.have.nested.property("Response[0][0].amount", "1,700.00");

    const callbacks: unknown[] = [];
    for (const Amount of [5, 6, 7]) {
      await client.push("254700000130", { Amount });
      await client.clock.advance(5_000);
      const sent = client.lastAt("/callbacks/a0") as {
        Body: { stkCallback: { CallbackMetadata: { Item: { Name: string; Value?: unknown }[] } } };
      };
      const items = sent.Body.stkCallback.CallbackMetadata.Item;
      callbacks.push(items.map(({ Name, Value }) => (/Amount|Phone/.test(Name) ? Value : Name)));
    }
    const [receipt, date] = ["MpesaReceiptNumber", "TransactionDate"];
    expect(callbacks).to.have.deep.members([
      ["5.00", receipt, date, "25470****130"],
      [6, receipt, "Balance", date, 254700000130],
      [7, receipt, date],
    ]);
  });

  it("show other forms of a payout, of its status and of registrations, too", async () => {
    await client.control("/settings", { message_forms: "alternating", c2b_registration: "again" });
    const codes: unknown[] = [];
    for (const call of [1, 2, 3]) {
      await client.payOut("254110000049", { Amount: 100 + call, OriginatorConversationID: String(call) });
      codes.push((await client.registerUrls()).body?.["ResponseCode"]);
    }
    expect(codes).to.deep.equal(["00000000", undefined, "0"]);
    await client.clock.advance(5_000);
    const paid = client.received.map(({ body }) => namedIn(body));
    expect(
      paid.map((values) => [values.get("TransactionAmount"), values.get("ReceiverPartyPublicName")]),
    ).to.deep.equal([
      ["101.00", "25411****049 - JANE SIMULATED DOE"],
      [102, undefined],
      [103, "254110000049 - JANE SIMULATED DOE"],
    ]);
    await client.queryStatus({ OriginalConversationID: "3" });
    await client.clock.advance(2_000);
    const told = namedIn(client.received.at(-1)?.body);
    expect([told.get("Amount"), told.get("CreditPartyName")]).to.deep.equal([
      "103.00",
      "25411****049 - JANE SIMULATED DOE",
    ]);
    expect((await client.registerPull()).body).to.include({ "Response Status": "1000" });
    expect((await client.registerPull()).body).to.include({ ResponseStatus: "1001" });
  });
});

/** The parameters of a result, by their keys. */
function namedIn(body = "{}"): ReadonlyMap<string, unknown> {
  const { Result } = JSON.parse(body) as {
    Result: { ResultParameters: { ResultParameter: { Key: string; Value?: unknown }[] } };
  };
  return new Map(Result.ResultParameters.ResultParameter.map(({ Key, Value }) => [Key, Value]));
}

describe("the list of refused requests", () => {
  it("says which rule each broke, and with which value, but shows no secret", async () => {
    const client = await Client.start();
    try {
      await client.push(PHONE, { Amount: "1.50" });
      await client.push(PHONE, { CallBackURL: "http://10.0.0.7/a0" });
      await client.payOut(PHONE, { SecurityCredential: "plain text" });
      await client.payOut(PHONE, { PartyA: "600000" });
      await client.payOut(PHONE, {}, "v9");
      const { refused_requests: refused } = (await client.control("")) as {
        refused_requests: Record<string, unknown>[];
      };
      expect(refused.map(({ path, code }) => [path, code])).to.deep.equal([
        ["/mpesa/b2c/v9/paymentrequest", "404.001.01"],
        ["/mpesa/b2c/v3/paymentrequest", "400.002.02"],
        ["/mpesa/b2c/v3/paymentrequest", "400.002.02"],
        ["/mpesa/stkpush/v1/processrequest", "400.002.02"],
        ["/mpesa/stkpush/v1/processrequest", "400.002.02"],
      ]);
      expect(refused.map(({ rule }) => rule)).to.deep.equal([
        "Resource not found",
        "PartyA must be 174379",
        "SecurityCredential must match /^[A-Za-z0-9+/]{300,}={0,2}$/, and is not shown",
        'CallBackURL must be HTTPS, or HTTP to the loopback (setting http_callbacks), and is "http://10.0.0.7/a0"',
        'Amount must match /^\\d{1,9}$/, and is "1.50"',
      ]);
      const page = await (await fetch(client.daraja.url)).text();
      expect(page).to.contain("Refused requests").and.to.contain("PartyA must be 174379");
    } finally {
      await client.close();
    }
  });
});
