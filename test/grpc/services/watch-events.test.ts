import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

const HOUR_MILLIS = 3_600_000;

describe("a watch", () => {
  let under: ServerUnderTest;
  afterEach(() => under.close());

  // Without a turn, the stream must not ask again in the same turn of the event loop, for ever.
  it("leaves the server time for others when its deadline has passed by the server's clock", async () => {
    under = await serve({ now: () => toUnixMillis(Date.now() + HOUR_MILLIS) });
    const stream = under.grpc.watch("WatchEvents", {}, { deadlineMillis: 2_000 });
    expect((await stream.ended).code).to.equal(4);
    expect(stream.responses).to.have.length(1);
  });
});
