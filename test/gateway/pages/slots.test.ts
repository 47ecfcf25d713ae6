import { connect, type Socket } from "node:net";

import { expect } from "chai";

import { eventually } from "../../support/eventually.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

// One address may have 16 requests in flight. The buffers of a socket take fewer of these answers
// than a client asks for, so a client that does not read holds its slots.
const READERS = 24;
const REQUESTS_OF_READER = 12;

describe("the slots of the pages", () => {
  const fixture = new GatewayFixture();
  const readers: Socket[] = [];
  const begun = new Set<Socket>();
  before(() => fixture.start());
  after(async () => {
    for (const socket of readers) socket.destroy();
    await fixture.stop();
  });

  /** Asks for the largest file, again and again, and does not read it. */
  function ask(): void {
    const [host, port] = fixture.gateway.address.split(":");
    const socket = connect(Number(port), host);
    socket.once("data", () => {
      begun.add(socket);
      socket.pause();
    });
    socket.write("GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: kesc\r\n\r\n".repeat(REQUESTS_OF_READER));
    readers.push(socket);
  }

  it("bound the clients of one address that do not read", async () => {
    for (let count = 0; count < READERS; count += 1) ask();
    await eventually(() => begun.size > 0);
    // A call goes through the same event loop, so what could begin has begun.
    for (let count = 0; count < 100; count += 1) await fixture.send("GET", "/nowhere");
    expect(begun.size).to.be.lessThan(READERS);
  });

  it("are not those of calls", async () => {
    fixture.server.handle = () => ({ message: { supply: {} } });
    expect((await fixture.send("GET", "/supply")).status).to.equal(200);
    expect((await fixture.send("GET", "/livez")).status).to.equal(200);
  });

  it("are free again for the next", async () => {
    await eventually(() => {
      for (const socket of begun) socket.destroy();
      return begun.size === READERS;
    });
  });
});
