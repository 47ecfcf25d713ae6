import { readFileSync } from "node:fs";

import { expect } from "chai";

import { SimulatorClock } from "../../../daraja/clock.js";
import { type Daraja, startDaraja } from "../../../daraja/simulator.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { MpesaRail } from "../../../src/rails/mpesa/mpesa.js";
import type { Sent } from "../../../src/rails/rail.js";
import { CERTIFICATE_FILE, MONDAY_MILLIS } from "../../daraja/given.js";
import { payment, phone } from "../support/orders.js";
import { mpesaSettings } from "./mpesa-rail.js";

const NEVER = new AbortController().signal;

describe("programs with one app at Daraja, where a new token ends the one before", () => {
  let daraja: Daraja;
  let clock: SimulatorClock;

  before(async () => {
    clock = new SimulatorClock({ standsAtMillis: MONDAY_MILLIS });
    daraja = await startDaraja({ clock });
  });
  after(() => daraja.close());

  /** The rail of a server, or of a command: each asks for a token of its own. */
  function program(): MpesaRail {
    const { organization, url: baseUrl } = daraja;
    const { shortcode } = organization;
    const certificatePem = readFileSync(CERTIFICATE_FILE, "utf8");
    const numbers = { collectShortcode: shortcode, payOutShortcode: shortcode };
    const settings = mpesaSettings({ ...organization, ...numbers, c2bVersion: 2, baseUrl, certificatePem });
    const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(clock.nowMillis());
    return new MpesaRail(settings, { now, monotonicMillis: now });
  }

  function push(rail: MpesaRail, customer: number): Promise<Sent> {
    return rail.send(payment("MINT", { number: phone(`+2547${String(customer).padStart(6, "0")}00`) }), NEVER);
  }

  it("lets a server and a command call by turns, and no push is seen to fail", async () => {
    const [server, command] = [program(), program()];
    const period = { from: toUnixMillis(MONDAY_MILLIS - 60_000), to: toUnixMillis(MONDAY_MILLIS) };
    await command.registerForReceivedPayments(phone("+254700000001"), NEVER);
    for (let customer = 1; customer <= 5; customer += 1) {
      expect(await push(server, customer)).to.have.property("kind", "accepted");
      expect(await command.receivedPayments(period, NEVER)).to.have.property("kind", "complete");
    }
    expect(daraja.orders).to.have.lengthOf(5);
  });

  it("lets five servers push at once, each push once", async () => {
    const before = daraja.orders.length;
    const servers = Array.from({ length: 5 }, program);
    const sent = await Promise.all(
      servers.flatMap((server, index) => [1, 2, 3].map((each) => push(server, 100 + index * 10 + each))),
    );
    expect(sent.map((each) => (each.kind === "accepted" ? "accepted" : each))).to.deep.equal(
      sent.map(() => "accepted"),
    );
    expect(daraja.orders).to.have.lengthOf(before + sent.length);
  }).timeout(20_000);
});
