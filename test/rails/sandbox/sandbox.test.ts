import { expect } from "chai";

import { RAIL_FAILURES } from "../../../src/domain/payment.js";
import { TRANSACTION_TYPES } from "../../../src/domain/transaction.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { maskMessage } from "../../../src/rails/mask.js";
import { MPESA_CAPABILITIES } from "../../../src/rails/mpesa/limits.js";
import type { RailOrder } from "../../../src/rails/order.js";
import type { RailMessage, RailReport, Sent } from "../../../src/rails/rail.js";
import { ENDINGS } from "../../../src/rails/sandbox/endings.js";
import { SandboxRail } from "../../../src/rails/sandbox/sandbox.js";
import { namesUnder } from "../../support/documents/sections.js";
import { railContract } from "../rail-contract.js";
import { type BegunOrder, NOW, payment, phone } from "../support/orders.js";

const NEVER = new AbortController().signal;
const DAY_MILLIS = 86_400_000;

/** A sandbox whose clock stands at `millis` after the start. */
function sandboxAt(millis: number): SandboxRail {
  return new SandboxRail({ capabilities: MPESA_CAPABILITIES, now: () => toUnixMillis(NOW + millis) });
}

/** A sandbox that notes which orders were sent. The sandbox itself keeps nothing. */
class NotingSandbox extends SandboxRail {
  readonly sent = new Set<string>();

  override async send(order: RailOrder, signal: AbortSignal): Promise<Sent> {
    const sent = await super.send(order, signal);
    if (sent.kind === "accepted" || sent.kind === "unknown") this.sent.add(order.transactionId);
    return sent;
  }
}

railContract("sandbox", () => {
  let now = NOW;
  const rail = new NotingSandbox({ capabilities: MPESA_CAPABILITIES, now: () => now });
  return Promise.resolve({
    rail,
    now: () => now,
    pass: (millis) => {
      now = toUnixMillis(now + millis);
      return Promise.resolve();
    },
    messages: (about) => rail.messagesOf(about).filter(({ at }) => at <= now),
    movements: async (about) => {
      const hasMoved = rail.sent.has(about.transactionId) && (await rail.query(about, NEVER)).kind === "succeeded";
      return hasMoved ? 1 : 0;
    },
    stop: () => Promise.resolve(),
  });
});

describe("the sandbox rail", () => {
  const ending = (digits: string, given: Partial<BegunOrder> = {}): BegunOrder =>
    payment("MINT", { number: phone(`+2547000000${digits}`), ...given });
  const messagesSoFar = (about: BegunOrder, millis: number): readonly RailMessage[] =>
    sandboxAt(millis)
      .messagesOf(about)
      .filter(({ at }) => at <= NOW + millis);
  const queried = (about: BegunOrder, millis: number): Promise<RailReport> => sandboxAt(millis).query(about, NEVER);
  const sent = (about: BegunOrder, millis = 0): Promise<Sent> => sandboxAt(millis).send(about, NEVER);

  it("waits for a second, so that a caller sees the payment in progress", async () => {
    expect(await queried(ending("00"), 999)).to.deep.equal({ kind: "open", code: "PENDING" });
    expect((await queried(ending("00"), 1_000)).kind).to.equal("succeeded");
  });

  it("ends in every way that a rail can report", async () => {
    const reasons = new Set<string>();
    for (const { digits } of ENDINGS) {
      for (const direction of TRANSACTION_TYPES) {
        const about = { ...ending(digits), direction };
        const answer = await sent(about);
        const report = await queried(about, DAY_MILLIS);
        for (const said of [answer, report]) if ("failure" in said) reasons.add(said.failure);
      }
    }
    expect([...reasons]).to.have.members(RAIL_FAILURES);
  });

  it("says the same after a restart, from what is stored", async () => {
    const about = ending("06");
    expect(await queried(about, 5_000)).to.deep.equal(await queried({ ...about }, 9_000));
    expect(messagesSoFar(about, 5_000)).to.deep.equal(messagesSoFar({ ...about }, 9_000));
  });

  it("gives each order a receipt of its own", async () => {
    const receipts = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const report = await queried(ending("00"), 1_000);
        return report.kind === "succeeded" ? report.receipt : undefined;
      }),
    );
    expect(new Set(receipts).size).to.equal(50);
    expect(receipts[0]).to.match(/^sandbox:SB[0-9A-Z]{26}$/);
  });

  for (const digits of ["13", "14", "15"]) {
    it(`never finds out by itself about ${digits}`, async () => {
      expect((await queried(ending(digits), 365 * DAY_MILLIS)).kind).to.equal("open");
    });
  }

  it("moves an order on when somebody advances it, and not before its time otherwise", async () => {
    expect((await queried(ending("13", { advances: 1 }), 0)).kind).to.equal("succeeded");
    expect((await queried(ending("14", { advances: 1 }), 0)).kind).to.equal("failed");
    expect((await queried(ending("11"), 59_999)).kind).to.equal("open");
    expect((await queried(ending("11", { advances: 1 }), 0)).kind).to.equal("succeeded");
    expect((await queried(ending("12", { advances: 1 }), 0)).kind).to.equal("failed");
    expect((await queried(ending("12", { advances: 2 }), 0)).kind).to.equal("succeeded");
    expect((await queried(ending("12", { advances: 9 }), 0)).kind).to.equal("succeeded");
    expect((await queried(ending("15", { advances: 9 }), 0)).kind).to.equal("open");
  });

  it("sends its messages one after the other, each with a text of its own", () => {
    const bodies = (about: BegunOrder, millis: number): string[] =>
      messagesSoFar(about, millis).map(({ body }) => body);
    expect(bodies(ending("06"), 999)).to.deep.equal([]);
    expect(new Set(bodies(ending("06"), 1_000)).size).to.equal(2);
    expect(bodies(ending("05"), DAY_MILLIS)).to.deep.equal([]);
    const late = ending("12");
    expect(bodies(late, 120_000).slice(0, 1)).to.deep.equal(bodies(late, 1_000));
    expect(bodies({ ...late, advances: 2 }, 0)).to.deep.equal(bodies(late, 120_000));
  });

  it("reports more than was ordered for 16, so that the books must refuse it", async () => {
    expect(await queried(ending("16"), 1_000)).to.deep.include({ kind: "succeeded", amountCents: 101_00 });
  });

  it("refuses 10 in its answer, and in a query if the server was killed before it stored the answer", async () => {
    const refused = { kind: "rejected", code: "RAIL_REFUSED", failure: "RAIL_REFUSED" };
    expect(await sent(ending("10"))).to.deep.equal(refused);
    expect(await queried(ending("10"), 0)).to.include({ kind: "failed", failure: "RAIL_REFUSED" });
    expect(sandboxAt(DAY_MILLIS).messagesOf(ending("10"))).to.deep.equal([]);
  });

  it("cannot be reached with 09 in the first five seconds after the acceptance", async () => {
    expect(await sent(ending("09"), 4_999)).to.deep.equal({ kind: "unreached", code: "BUSY", retryAfterMillis: 1_000 });
    expect((await sent(ending("09"), 5_000)).kind).to.equal("accepted");
  });

  it("ends as 00 for any other number", async () => {
    expect(await sent(ending("77"))).to.include({ kind: "accepted" });
    expect((await queried(ending("77"), 1_000)).kind).to.equal("succeeded");
  });

  it("sends messages without a whole phone number, which the mask leaves as they are", () => {
    for (const { digits } of ENDINGS) {
      for (const { body } of messagesSoFar(ending(digits), DAY_MILLIS)) {
        expect(body).not.to.include("2547000000");
        expect(maskMessage(body)).to.equal(body);
      }
    }
  });

  it("reads no message about another order", () => {
    const [message] = messagesSoFar(ending("00"), 1_000);
    if (message === undefined) throw new Error("the sandbox sent no message");
    expect(sandboxAt(0).read(message, ending("00"))).to.equal(undefined);
  });

  it("has no balance", async () => {
    expect((await sandboxAt(0).askBalance()).kind).to.equal("unavailable");
  });

  it("is documented: each ending once, and no other", () => {
    expect(namesUnder("## Endings", "docs/sandbox.md")).to.deep.equal(ENDINGS.map(({ digits }) => digits));
  });
});
