import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import { exampleClient } from "../attack/events/watch-through-kills.js";
import { GatewayFixture } from "../support/gateway/fixture.js";

describe("examples/events", () => {
  const fixture = new GatewayFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  const watch = async (after = 0) => {
    const { watchEvents } = await exampleClient();
    return watchEvents({ url: `http://${fixture.gateway.address}`, key: "kesc_0_key", after })[Symbol.asyncIterator]();
  };

  it("goes on after the last event that was processed, and after what the filter passed over", async () => {
    const begun: unknown[] = [];
    fixture.server.handle = ({ message }) => {
      begun.push((message as { after_sequence?: string }).after_sequence);
      if (begun.length === 1)
        return { messages: [{ events: [{ sequence: "5" }, { sequence: "6" }], nextSequence: "9" }] };
      return { messages: [{ events: [{ sequence: "10" }], nextSequence: "10" }] };
    };
    const events = await watch(4);
    for (const sequence of [5, 6, 10]) expect((await events.next()).value).to.include({ sequence });
    await events.return?.();
    expect(begun).to.deep.equal(["4", "9"]);
  });

  it("says why the gateway refuses the request", async () => {
    fixture.server.handle = () => ({
      refusal: { code: status.UNAUTHENTICATED, reason: "INVALID_API_KEY", text: "The key is invalid." },
    });
    const events = await watch();
    const refused: unknown = await events.next().catch((error: unknown) => error);
    expect(refused).to.have.property("message", "INVALID_API_KEY: The key is invalid.");
  });
});
