import { once } from "node:events";
import { connect } from "node:net";

import { expect } from "chai";

import { eventually } from "../../support/eventually.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";
import { rawConnection } from "../../support/gateway/raw-connection.js";

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

describe("a connection whose request has not arrived when its response is sent", () => {
  const fixture = GatewayFixture.ofSuite();

  for (const [what, more] of [
    ["a refusal", "POST /transactions/mint HTTP/1.1\r\nContent-Type: text/plain"],
    ["a page", "GET /livez HTTP/1.1"],
  ] as const) {
    it(`is closed after ${what}: HAProxy would send the next request behind half a body`, async () => {
      const { socket, received } = rawConnection(
        fixture.gateway.address,
        `${more}\r\nHost: kesc\r\nContent-Length: 100\r\n\r\nhalf`,
      );
      await once(socket, "close");
      expect(received()).to.match(/^HTTP\/1\.1 (?:415|200) .+\r\n(?:.+\r\n)*Connection: close\r\n/);
    });
  }

  it("stays open when the whole body came with the head", async () => {
    const { socket, received } = rawConnection(
      fixture.gateway.address,
      "POST /transactions/mint HTTP/1.1\r\nHost: kesc\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nhalf",
    );
    await eventually(() => received().startsWith("HTTP/1.1 415"));
    socket.write("GET /livez HTTP/1.1\r\nHost: kesc\r\n\r\n");
    await eventually(() => received().includes("HTTP/1.1 200"));
    socket.destroy();
  });
});
