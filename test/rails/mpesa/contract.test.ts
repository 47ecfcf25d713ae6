import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { expect } from "chai";

import { SimulatorClock } from "../../../daraja/clock.js";
import { type Daraja, startDaraja } from "../../../daraja/simulator.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import {
  type AddressPurpose,
  type CallbackPurpose,
  callbackToken,
  readCallbackToken,
  uuidOf,
} from "../../../src/rails/callback-token.js";
import { MpesaRail } from "../../../src/rails/mpesa/mpesa.js";
import { accountReferenceOf } from "../../../src/rails/mpesa/stk.js";
import type { RailMessage } from "../../../src/rails/rail.js";
import { CERTIFICATE_FILE, MONDAY_MILLIS } from "../../daraja/given.js";
import { railContract, type RailUnderTest } from "../rail-contract.js";
import { payment, phone, questionAbout } from "../support/orders.js";
import { mpesaSettings } from "./mpesa-rail.js";

const CALLBACK_SECRET = Buffer.from("the callback secret of a test");
const QUESTION = "01932d53-1b2e-7c3a-8f00-0123456789cd";
const NEVER = new AbortController().signal;

interface MpesaWorld extends RailUnderTest {
  readonly rail: MpesaRail;
  readonly daraja: Daraja;
  /** The messages about the transaction or the account with this UUID. */
  messagesAbout(uuid: string): readonly RailMessage[];
}

function isAnswer(purpose: AddressPurpose | undefined): purpose is CallbackPurpose {
  return purpose !== undefined && purpose !== "confirmation" && purpose !== "validation";
}

/** The adapter, the simulator on a clock that stands still, and a server for callbacks. */
async function startMpesa(): Promise<MpesaWorld> {
  const clock = new SimulatorClock({ standsAtMillis: MONDAY_MILLIS });
  const daraja = await startDaraja({ clock });
  const received: { uuid: string; message: RailMessage }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const subject = readCallbackToken([CALLBACK_SECRET], (request.url ?? "").replace("/callbacks/", ""));
      const { uuid = "", purpose } = subject ?? {};
      if (isAnswer(purpose)) received.push({ uuid, message: { purpose, body } });
      response.setHeader("content-type", "application/json").end('{"ResultCode":0,"ResultDesc":"Accepted"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { organization } = daraja;
  const settings = mpesaSettings({
    ...organization,
    c2bVersion: 2,
    baseUrl: daraja.url,
    collectShortcode: organization.shortcode,
    payOutShortcode: organization.shortcode,
    certificatePem: readFileSync(CERTIFICATE_FILE, "utf8"),
    callbackUrl: (purpose, uuid) =>
      `http://127.0.0.1:${String(port)}/callbacks/${callbackToken(CALLBACK_SECRET, { cell: 0, purpose, uuid })}`,
  });
  const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(clock.nowMillis());
  const messagesAbout = (uuid: string): readonly RailMessage[] =>
    received.filter((one) => one.uuid === uuid).map(({ message }) => message);
  return {
    daraja,
    rail: new MpesaRail(settings, { now, monotonicMillis: now }),
    now,
    pass: (millis) => clock.advance(millis),
    messagesAbout,
    messages: ({ transactionId }) => messagesAbout(uuidOf(transactionId)),
    movements: ({ transactionId }) => {
      const moved = daraja.receipts.filter(({ order }) =>
        order?.direction === "IN"
          ? order.accountReference === accountReferenceOf(transactionId)
          : order?.originatorConversationId === transactionId,
      );
      return Promise.resolve(moved.length);
    },
    stop: async () => {
      await daraja.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

railContract("M-Pesa", startMpesa);

describe("the M-Pesa rail, against the simulator", () => {
  let world: MpesaWorld;

  beforeEach(async () => {
    world = await startMpesa();
  });

  afterEach(() => world.stop());

  const ordered = (direction: "MINT" | "REDEEM", digits: string): ReturnType<typeof payment> =>
    payment(direction, { number: phone(`+2547000000${digits}`), acceptedAt: world.now(), begunAt: world.now() });

  it("reads the balance of each account", async () => {
    expect(await world.rail.askBalance(QUESTION, NEVER)).to.deep.equal({ kind: "requested" });
    await world.pass(10_000);
    const [message] = world.messagesAbout(QUESTION);
    const balance = message === undefined ? undefined : world.rail.readBalance(message);
    const { utilityCents, workingCents } = world.daraja.organization;
    expect(balance?.kind === "told" && balance.balance.accounts).to.deep.include.members([
      { name: "Working Account", currency: "KES", availableCents: workingCents },
      { name: "Utility Account", currency: "KES", availableCents: utilityCents },
    ]);
  });

  it("finds the payment of a push whose answer and callback were lost, by its reference", async () => {
    const about = ordered("MINT", "05");
    await world.rail.send(about, NEVER);
    await world.pass(10_000);
    expect(world.messages(about)).to.deep.equal([]);
    const period = { from: toUnixMillis(world.now() - 3_600_000), to: world.now() };
    expect((await world.rail.receivedPayments(period, NEVER)).kind).to.equal("failed");
    expect(await world.rail.registerForReceivedPayments(phone("0700000000"), NEVER)).to.equal(undefined);
    const listed = await world.rail.receivedPayments(period, NEVER);
    expect(listed.kind === "complete" && listed.payments).to.deep.equal([
      {
        receipt: world.daraja.receipts[0]?.number,
        amountCents: about.amountCents,
        reference: accountReferenceOf(about.transactionId),
        idEnd: accountReferenceOf(about.transactionId).toLowerCase(),
        phone: "254******005",
        receivedAt: listed.kind === "complete" ? listed.payments[0]?.receivedAt : undefined,
      },
    ]);
  });

  it("takes the notice of a queue for no failure, and learns from the status query that it paid", async () => {
    const about = ordered("REDEEM", "13");
    await world.rail.send(about, NEVER);
    await world.pass(10_000);
    const reports = world.messages(about).map((message) => world.rail.read(message, about));
    expect(reports).to.deep.equal([{ kind: "open", code: "QUEUE_TIMEOUT" }]);
    await world.rail.query(about, NEVER, questionAbout(about));
    await world.pass(10_000);
    const [, status] = world.messages(about);
    expect(status?.purpose).to.equal("status");
    expect(status && world.rail.read(status, about)).to.deep.include({ kind: "succeeded", amountCents: 100_00 });
  });

  for (const [digits, status, failure] of [
    ["14", "DECLINED", "RAIL_REFUSED"],
    ["12", "EXPIRED", "RAIL_REFUSED"],
  ] as const) {
    it(`learns from the status query that a payout is ${status}`, async () => {
      const about = ordered("REDEEM", digits);
      await world.rail.send(about, NEVER);
      await world.pass(10_000);
      await world.rail.query(about, NEVER, questionAbout(about));
      await world.pass(10_000);
      const last = world.messages(about).at(-1);
      expect(last && world.rail.read(last, about)).to.include({ kind: "failed", code: status, failure });
    });
  }

  it("never reads a forged success at a wrong address, and a query exposes one at the right address", async () => {
    const wrong = ordered("MINT", "16");
    await world.rail.send(wrong, NEVER);
    await world.pass(2_000);
    expect(world.daraja.callbacks.filter(({ isForged }) => isForged)).to.have.length(1);
    expect(world.messages(wrong)).to.deep.equal([]);

    const right = ordered("MINT", "18");
    const sent = await world.rail.send(right, NEVER);
    await world.pass(10_000);
    const [forged] = world.messages(right);
    expect(forged && world.rail.read(forged, right)?.kind).to.equal("succeeded");
    const railReference = sent.kind === "accepted" ? sent.railReference : undefined;
    expect((await world.rail.query({ ...right, railReference }, NEVER, questionAbout(right))).kind).to.equal("failed");
  });

  it("reads no message that is malformed, and asks again after an answer that is", async () => {
    const cut = ordered("REDEEM", "15");
    expect((await world.rail.send(cut, NEVER)).kind).to.equal("accepted");
    await world.pass(10_000);
    expect(world.messages(cut).map((message) => world.rail.read(message, cut))).to.deep.equal([undefined]);

    const answerCut = ordered("REDEEM", "17");
    expect(await world.rail.send(answerCut, NEVER)).to.include({ kind: "unknown", code: "MALFORMED_ANSWER" });
    expect(await world.rail.send(answerCut, NEVER)).to.deep.equal({ kind: "accepted", railReference: undefined });
    await world.pass(10_000);
    expect(await world.movements(answerCut)).to.equal(1);
  });

  it("says unreached for sends and open for queries while Daraja is down", async () => {
    const about = ordered("REDEEM", "00");
    await world.daraja.close();
    expect((await world.rail.send(about, NEVER)).kind).to.equal("unreached");
    expect((await world.rail.query(about, NEVER, questionAbout(about))).kind).to.equal("open");
    expect((await world.rail.askBalance(QUESTION, NEVER)).kind).to.equal("unavailable");
  });
});
