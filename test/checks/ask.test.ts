import { createHash } from "node:crypto";

import { expect } from "chai";

import { asking } from "../../src/checks/ask.js";
import type { CheckedPayout, StandingCheck } from "../../src/checks/ports.js";
import { bankNumber, type BusinessNumber, type DestinationKind, type RailName } from "../../src/domain/destination.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AllowedHosts } from "../../src/webhooks/allowed.js";
import { senderTo } from "../../src/webhooks/deliver.js";
import { givenPending } from "../support/given.js";
import { newAccountId } from "../support/names.js";
import { STANDING_CHECK } from "../support/operations/payouts.js";
import { Receiver, verifySignature } from "../support/webhooks/receiver.js";

const secret = Buffer.alloc(32, 7).toString("base64");
const transaction = givenPending({ accountId: newAccountId(), type: "REDEEM" });
const phone: CheckedPayout = { ...transaction, kind: "PHONE", number: "+254712345678" as PhoneNumber };

describe("a request to a service", () => {
  let receiver: Receiver;
  let allowed: readonly string[];
  beforeEach(async () => {
    receiver = await Receiver.start();
    allowed = ["127.0.0.1"];
    says('{"decision":"allow"}');
  });
  afterEach(() => receiver.close());

  const says = (body: string | Buffer, code = 200): void => {
    receiver.answer = (response) => response.writeHead(code).end(body);
  };
  const ask = async (payout: CheckedPayout | "test" = phone, url = receiver.url) => {
    const now = () => toUnixMillis(Date.now());
    const sender = senderTo({ allowed: new AllowedHosts([...allowed]), now });
    const standing: StandingCheck = {
      check: { ...STANDING_CHECK, url },
      secrets: [{ base64: secret, validUntil: undefined }],
    };
    try {
      return await asking({ send: sender.send, now })(standing, payout, new AbortController().signal);
    } finally {
      sender.close();
    }
  };

  it("names what is paid, to whom, and no more, with a salt of its own", async () => {
    expect(await ask()).to.include({ answer: "ALLOW", code: undefined });
    await ask();
    const [first, second] = receiver.received.map(({ body }) => JSON.parse(body) as { data: { salt: string } });
    const { salt } = first?.data ?? { salt: "" };
    expect(first).to.have.property("type", "payout.check");
    expect(first?.data).to.deep.equal({
      transaction_id: transaction.id,
      account_id: transaction.accountId,
      amount: "50.00",
      rail: transaction.rail,
      reference: transaction.reference,
      destination: { kind: "phone", phone_number: "+254712345678" },
      salt,
    });
    expect(second?.data.salt).not.to.equal(salt);
  });

  it("has the same id at each try, and is signed as Standard Webhooks says", async () => {
    await ask();
    await ask();
    for (const received of receiver.received) {
      expect(received.id).to.equal(`check_${transaction.id}`);
      verifySignature(received, `whsec_${secret}`);
    }
    expect(receiver.received).to.have.length(2);
  });

  it("gives a hash of itself and its answer, which only who keeps the request can prove", async () => {
    const { exchangeSha256 } = (await ask()) as { readonly exchangeSha256?: string };
    const [{ body } = { body: "" }] = receiver.received;
    expect(exchangeSha256).to.equal(createHash("sha256").update(`${body}\n{"decision":"allow"}`).digest("hex"));
  });

  for (const [kind, number, shown] of [
    ["TILL", "543232", { number: "543232" }],
    ["PAYBILL", "888880 1234", { number: "888880", account_number: "1234" }],
    [
      "BANK",
      bankNumber({ bankCode: "01", branchCode: "175", account: "1234567", holder: "Duka Ltd" }),
      { bank_code: "01", branch_code: "175", account_number: "1234567", name: "Duka Ltd" },
    ],
  ] as const satisfies readonly (readonly [DestinationKind, string, object])[]) {
    it(`names the parts of a ${kind.toLowerCase()}`, async () => {
      await ask({ ...phone, kind, number: number as BusinessNumber });
      const { data } = JSON.parse(receiver.received[0]?.body ?? "{}") as { data: { destination: object } };
      expect(data.destination).to.deep.equal({ kind: kind.toLowerCase(), ...shown });
    });
  }

  it("names the destination as its rail does", async () => {
    await ask({ ...phone, railName: "MAMA MBOGA" as RailName });
    expect(receiver.received[0]?.body).to.include('"rail_name":"MAMA MBOGA"');
  });

  it("can be about no payout", async () => {
    expect(await ask("test")).to.have.property("answer", "ALLOW");
    expect(JSON.parse(receiver.received[0]?.body ?? "{}")).to.have.property("type", "payout.check_test");
  });

  it("takes an error, other words and another body for no answer", async () => {
    says('{"decision":"allow"}', 500);
    expect(await ask()).to.deep.equal({ problem: "it responded with 500" });
    says('{"decision":"maybe"}');
    expect(await ask()).to.deep.equal({ problem: "its answer is none of the documented ones" });
  });

  it("reads 16 KiB of a service that answers megabytes, and takes that for no answer", async () => {
    says(Buffer.from(`{"decision":"allow"}${" ".repeat(4_000_000)}`));
    expect(await ask()).to.deep.equal({ problem: "its response has more than 16 KiB" });
    says(`{"decision":"allow"}${" ".repeat(16_000)}`);
    expect(await ask()).to.have.property("answer", "ALLOW");
  });

  it("follows no redirect inside", async () => {
    const inside = await Receiver.start();
    inside.answer = (response) => response.end('{"decision":"allow"}');
    receiver.answer = (response) => response.writeHead(307, { location: inside.url }).end('{"decision":"allow"}');
    expect((await ask()).problem).to.match(/a redirect, which is not followed/);
    expect(inside.received).to.deep.equal([]);
    await inside.close();
  });

  it("goes to no address that is private, nor to one that somebody wrote into the row", async () => {
    expect((await ask(phone, "")).problem).to.equal("its url is not allowed any more");
    allowed = [];
    expect((await ask()).problem).to.equal("its url is not allowed any more");
    expect((await ask(phone, "https://127.0.0.1/")).problem).to.equal("its host has no public address");
    expect(receiver.received).to.deep.equal([]);
  });
});
