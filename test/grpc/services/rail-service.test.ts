import { randomBytes } from "node:crypto";

import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { RailServiceService as rpcs } from "../../../src/gen/kesc/v1/rail_service.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { type CallbackSubject, callbackToken, depositIdOf, uuidOf } from "../../../src/rails/callback-token.js";
import { serve, type ServerUnderTest, TRANSACTION_ID } from "../../support/service/grpc-server.js";
import { MemoryRails } from "../../support/service/memory-rails.js";

const [SECRET, OLD_SECRET] = [randomBytes(32), randomBytes(32)];
const NOW = Date.UTC(2026, 10, 22);
const SUBJECT: CallbackSubject = { cell: 0, purpose: "collect", uuid: uuidOf(TRANSACTION_ID) };
const BODY = '{"PhoneNumber":254708374149,"Amount":100.00}';
const ACCEPTED = '{"ResultCode":0,"ResultDesc":"Accepted"}';

describe("grpc: RailService/ReceiveCallback", () => {
  let rails: MemoryRails;
  let under: ServerUnderTest;
  let now = NOW;
  const asked: number[] = [];

  beforeEach(async () => {
    now = NOW;
    asked.length = 0;
    rails = new MemoryRails();
    under = await serve({
      rails,
      cellAsked: (cell) => asked.push(cell),
      callbackSecrets: () => [SECRET, OLD_SECRET],
      now: () => toUnixMillis(now),
    });
  });
  afterEach(() => under.close());

  /** Without a key, as rails call. */
  async function post(
    token: string,
    data: Buffer | string = BODY,
  ): Promise<{ code: number; text: string | undefined }> {
    const body = { content_type: "text/plain", data: Buffer.from(data), extensions: [] };
    const { code, response } = await under.grpc.call(rpcs.receiveCallback, { token, body }, { key: "" });
    return { code, text: response?.body?.data.toString() };
  }

  const accepted = { code: Status.OK, text: ACCEPTED };

  for (const [what, secret] of [
    ["new", SECRET],
    ["old", OLD_SECRET],
  ] as const) {
    it(`stores a masked message of a token of the ${what} secret before it answers, and wakes the settlement`, async () => {
      expect(await post(callbackToken(secret, SUBJECT))).to.deep.equal(accepted);
      const body = '{"PhoneNumber":"254708***149","Amount":100}';
      expect(rails.added).to.deep.equal([
        { message: { transactionId: TRANSACTION_ID, purpose: "collect", body }, now: NOW },
      ]);
      expect(rails.wakes).to.equal(1);
    });
  }

  it("reads a message with a byte-order mark as one without, as the gateway reads any body", async () => {
    for (const text of [BODY, `\uFEFF${BODY}`]) await post(callbackToken(SECRET, SUBJECT), text);
    const [first, second] = rails.added.map(({ message }) => message.body);
    expect(second).to.equal(first);
  });

  it("asks the cell that the token names", async () => {
    await post(callbackToken(SECRET, { ...SUBJECT, cell: 7 }));
    expect(asked).to.deep.equal([7]);
  });

  it("passes a balance on, and stores nothing", async () => {
    const token = callbackToken(SECRET, { ...SUBJECT, purpose: "balance" });
    expect(await post(token, '{"a":1}')).to.deep.equal(accepted);
    expect(rails.balances).to.deep.equal([
      { accountUuid: SUBJECT.uuid, message: { purpose: "balance", body: '{"a":1}' } },
    ]);
    expect([rails.added, rails.wakes]).to.deep.equal([[], 0]);
  });

  it("stores a masked message about a return once, and lets the settlement look at the deposit", async () => {
    const token = callbackToken(SECRET, { ...SUBJECT, purpose: "return" });
    const id = depositIdOf(SUBJECT.uuid);
    for (let times = 0; times < 2; times += 1) expect(await post(token)).to.deep.equal(accepted);
    const body = '{"PhoneNumber":"254708***149","Amount":100}';
    expect(rails.aboutReturns[0]).to.deep.equal({ id, body });
    expect(rails.returnsReported).to.deep.equal([id]);
    expect([rails.added, rails.wakes]).to.deep.equal([[], 0]);
  });

  it("passes a confirmation on without its text, and stores nothing", async () => {
    const token = callbackToken(SECRET, { ...SUBJECT, purpose: "confirmation" });
    expect(await post(token, '{"BillRefNumber":"JOHN"}')).to.deep.equal(accepted);
    expect(rails.confirmed).to.deep.equal([SUBJECT.uuid]);
    expect([rails.added, rails.wakes]).to.deep.equal([[], 0]);
  });

  it("answers a validation as the rail wants it, from the text as it came, and stores nothing", async () => {
    const token = callbackToken(SECRET, { ...SUBJECT, purpose: "validation" });
    expect(await post(token, '{"MSISDN":"254708374149"}')).to.deep.equal(accepted);
    rails.answer = '{"ResultCode":"C2B00012","ResultDesc":"Rejected"}';
    expect(await post(token, "x")).to.deep.equal({ code: Status.OK, text: rails.answer });
    expect(rails.asked).to.deep.equal([
      { accountUuid: SUBJECT.uuid, body: '{"MSISDN":"254708374149"}' },
      { accountUuid: SUBJECT.uuid, body: "x" },
    ]);
    expect([rails.added, rails.confirmed, rails.wakes]).to.deep.equal([[], [], 0]);
  });

  it("gives a token that is not ours the same answer, asks no cell, and logs at most a line a minute", async () => {
    const good = callbackToken(SECRET, SUBJECT);
    const forged = [
      "",
      "x",
      good.toUpperCase(),
      good.slice(0, -1),
      `${good}0`,
      callbackToken(randomBytes(32), SUBJECT),
      `${good.slice(0, 3)}1${good.slice(4)}`,
      `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`,
    ];
    for (const token of forged) expect(await post(token), token).to.deep.equal(accepted);
    expect([rails.added, rails.wakes, asked]).to.deep.equal([[], 0, []]);
    const counts = (): unknown[] =>
      under.lines.filter(({ msg }) => msg === "callbacks came with a token that is not ours").map(({ count }) => count);
    expect(counts()).to.deep.equal([1]);
    now += 60_000;
    await post("x");
    expect(counts()).to.deep.equal([1, forged.length]);
    const logged = JSON.stringify(under.lines);
    for (const token of forged.filter(({ length }) => length > 1)) expect(logged).not.to.include(token);
  });

  it("is UNAVAILABLE when the message cannot be stored, so that the rail sends it again", async () => {
    rails.refuseMessage = () => Promise.reject(new StoreError("unavailable", "the disk is full"));
    expect((await post(callbackToken(SECRET, SUBJECT))).code).to.equal(Status.UNAVAILABLE);
    expect(rails.wakes).to.equal(0);
  });

  it("accepts a message that the inbox has no room for, logs it once a minute, and does not wake the settlement", async () => {
    rails.refuseMessage = () => Promise.resolve("full");
    for (let times = 0; times < 3; times += 1) {
      expect(await post(callbackToken(SECRET, SUBJECT))).to.deep.equal(accepted);
    }
    expect(rails.wakes).to.equal(0);
    const logged = under.lines.filter(({ msg }) => String(msg).startsWith("callbacks found no room"));
    expect(logged.map(({ count, transaction_id }) => [count, transaction_id])).to.deep.equal([[1, TRANSACTION_ID]]);
  });

  it("takes 65536 bytes of any kind, and not one more", async () => {
    const token = callbackToken(SECRET, SUBJECT);
    expect(await post(token, randomBytes(65_536))).to.deep.equal(accepted);
    expect((await post(token, Buffer.alloc(65_537))).code).to.equal(Status.INVALID_ARGUMENT);
    const { code } = await under.grpc.call(rpcs.receiveCallback, { token, body: undefined }, { key: "" });
    expect(code).to.equal(Status.OK);
  });

  it("does not look at a key", async () => {
    for (const key of ["nobody's", ""]) {
      const { code } = await under.grpc.call(rpcs.receiveCallback, { token: "x", body: undefined }, { key });
      expect(code).to.equal(Status.OK);
    }
    expect(under.keyReads.count).to.equal(0);
  });
});
