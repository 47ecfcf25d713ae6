import { connect } from "node:net";

import { expect } from "chai";

import { eventually } from "../../support/eventually.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

const REQUESTS_OF_CALLER_MAX = 4;

describe("a connection that breaks off", () => {
  const fixture = GatewayFixture.ofSuite({ requestsMax: 2 * REQUESTS_OF_CALLER_MAX });

  it("gives back the places of all its requests, also of those that waited behind the first", async () => {
    let arrived = 0;
    fixture.server.handle = () => {
      arrived += 1;
      return new Promise(() => undefined);
    };
    for (let round = 1; round <= 3; round += 1) {
      const [host, port] = fixture.gateway.address.split(":");
      const socket = connect(Number(port), host);
      socket.write("GET /supply HTTP/1.1\r\nHost: kesc\r\n\r\n".repeat(REQUESTS_OF_CALLER_MAX));
      await eventually(() => arrived === round * REQUESTS_OF_CALLER_MAX);
      socket.destroy();
    }
    fixture.server.handle = () => ({ message: { supply: {} } });
    expect((await fixture.send("GET", "/supply")).status).to.equal(200);
  });
});
