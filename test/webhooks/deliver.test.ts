import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { ClientRequest } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, isIP, type LookupFunction } from "node:net";

import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { AllowedHosts } from "../../src/webhooks/allowed.js";
import { senderTo } from "../../src/webhooks/deliver.js";
import type { ReceiverAnswer } from "../../src/webhooks/ports/delivery.js";
import { eventually } from "../support/eventually.js";
import { Receiver } from "../support/webhooks/receiver.js";

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());

async function send(
  url: string,
  {
    allowed = ["127.0.0.1"],
    lookup,
    millis = 5_000,
  }: { allowed?: string[]; lookup?: LookupFunction; millis?: number } = {},
): Promise<ReceiverAnswer> {
  const sender = senderTo({ allowed: new AllowedHosts(allowed), now, ...(lookup === undefined ? {} : { lookup }) });
  try {
    const headers = { "content-type": "application/json" };
    return await sender.send({ url, headers, body: '{"data":{}}' }, { millis, signal: new AbortController().signal });
  } finally {
    sender.close();
  }
}

describe("the sender of webhooks", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
  });
  afterEach(() => receiver.close());

  it("succeeds with a status from 200 to 299", async () => {
    expect(await send(receiver.url)).to.deep.equal({ code: 204, problem: "", retryAfterMillis: undefined });
    expect(receiver.received).to.have.length(1);
  });

  it("says which status failed, and how long to wait", async () => {
    receiver.answer = (response) => response.writeHead(503, { "retry-after": "120" }).end();
    expect(await send(receiver.url)).to.deep.equal({
      code: 503,
      problem: "it responded with 503",
      retryAfterMillis: 120_000,
    });
  });

  it("follows no redirect", async () => {
    const other = await Receiver.start();
    receiver.answer = (response) => response.writeHead(307, { location: other.url }).end();
    const { code, problem } = await send(receiver.url);
    expect({ code, problem }).to.deep.equal({
      code: 307,
      problem: "it responded with 307, a redirect, which is not followed",
    });
    expect(other.received).to.deep.equal([]);
    await other.close();
  });

  it("ends a receiver that hangs, and one that drips, at the bound", async () => {
    receiver.answer = () => undefined;
    expect(await send(receiver.url, { millis: 100 })).to.include({
      code: 0,
      problem: "no whole response within 0.1 seconds",
    });
    receiver.answer = (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("a"), 5);
      response.on("close", () => {
        clearInterval(drip);
      });
    };
    expect(await send(receiver.url, { millis: 200 })).to.include({
      code: 200,
      problem: "no whole response within 0.2 seconds",
    });
  });

  it("reads no more than 16 KiB of a response without an end", async () => {
    let written = 0;
    let closed = false;
    receiver.answer = (response) => {
      response.writeHead(200);
      response.on("close", () => {
        closed = true;
      });
      const write = (): void => {
        while (!closed && written < 1e9 && response.write(Buffer.alloc(65_536))) written += 65_536;
      };
      response.on("drain", write);
      write();
    };
    expect(await send(receiver.url)).to.include({ code: 200, problem: "" });
    await eventually(() => closed);
    expect(written).to.be.below(1e8);
  });

  it("says when the connection is refused or breaks", async () => {
    const { port } = receiver;
    receiver.answer = (response) => response.destroy();
    expect(await send(receiver.url)).to.include({ code: 0, problem: "the connection broke" });
    await receiver.close();
    expect(await send(`http://127.0.0.1:${String(port)}/`)).to.include({ problem: "it refused the connection" });
    receiver = await Receiver.start();
  });

  it("refuses an address that is not public, whatever form it has", async () => {
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "10.0.0.1",
      "169.254.169.254",
      "192.168.1.1",
      "100.64.0.1",
      "0.0.0.0",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::127.0.0.1]",
      "[::8.8.8.8]",
      "[fd00::1]",
      "[fe80::1]",
      "[64:ff9b::7f00:1]",
    ]) {
      const answer = await send(`https://${host}/`, { allowed: [] });
      expect(answer, host).to.include({ code: 0, problem: "its host has no public address" });
    }
  });

  it("refuses what the operator does not allow any more", async () => {
    expect(await send(receiver.url, { allowed: [] })).to.include({ problem: "its url is not allowed any more" });
    expect(receiver.received).to.deep.equal([]);
  });

  describe("with a name", () => {
    /** An address that counts as public, in a part of IPv6 that nobody has. Nothing is there. */
    const PUBLIC = "8000::1";
    const problem = "its host has no public address";
    /** The addresses to which the sockets of this process began to connect. */
    const connectedTo: string[] = [];

    const hear = (message: unknown): void => {
      const { socket } = (message as { request: ClientRequest }).request;
      if (socket === null) throw new Error("the request has no socket yet");
      socket.on("connectionAttempt", (address: string) => {
        connectedTo.push(address);
      });
    };
    before(() => {
      subscribe("http.client.request.start", hear);
    });
    after(() => {
      unsubscribe("http.client.request.start", hear);
    });
    beforeEach(() => {
      connectedTo.length = 0;
    });

    /** Answers each look-up with the next addresses, and with the last ones from then on. */
    function answering(...answers: readonly (readonly string[])[]): { lookup: LookupFunction; asked: () => number } {
      let asked = 0;
      const lookup: LookupFunction = (_name, options, callback) => {
        const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
        asked += 1;
        const all = addresses.map((address) => ({ address, family: isIP(address) }));
        setImmediate(() => {
          if (options.all === true) callback(null, all);
          else callback(null, all[0]?.address ?? "", all[0]?.family);
        });
      };
      return { lookup, asked: () => asked };
    }

    const deliver = (lookup: LookupFunction): Promise<ReceiverAnswer> =>
      send("https://rebinding.example/", { allowed: [], lookup, millis: 300 });

    it("refuses the name of a private address, with the words for a name that does not exist", async () => {
      const missing: LookupFunction = (_name, _options, callback) => {
        callback(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), "", 0);
      };
      for (const address of ["10.0.0.8", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.8"]) {
        expect(await deliver(answering([address]).lookup), address).to.include({ code: 0, problem });
      }
      expect(await deliver(missing)).to.include({ code: 0, problem });
      expect(connectedTo).to.deep.equal([]);
    });

    it("refuses a name with a public and a private address", async () => {
      for (const addresses of [
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
      ]) {
        expect(await deliver(answering(addresses).lookup)).to.include({ code: 0, problem });
      }
      expect(connectedTo).to.deep.equal([]);
    });

    // A sender that checks a name and connects by another look-up would connect to the second
    // address.
    for (const hidden of ["127.0.0.1", "10.0.0.8", "::1"]) {
      it(`connects to the address that it has checked, though the name becomes ${hidden} meanwhile`, async () => {
        const { lookup, asked } = answering([PUBLIC], [hidden]);
        const first = await deliver(lookup);
        expect(first).to.include({ code: 0 });
        expect(first.problem).not.to.equal(problem);
        expect(asked()).to.equal(1);
        expect(connectedTo).to.deep.equal([PUBLIC]);
        expect(await deliver(lookup)).to.include({ code: 0, problem });
        expect(asked()).to.equal(2);
        expect(connectedTo).to.deep.equal([PUBLIC]);
      });
    }

    it("checks the name for each connection of one sender", async () => {
      const { lookup } = answering([PUBLIC], ["127.0.0.1"]);
      const sender = senderTo({ allowed: new AllowedHosts([]), now, lookup });
      const delivery = { url: "https://rebinding.example/", headers: {}, body: "{}" };
      const bounds = { millis: 300, signal: new AbortController().signal };
      await sender.send(delivery, bounds);
      expect(await sender.send(delivery, bounds)).to.include({ code: 0, problem });
      sender.close();
      expect(connectedTo).to.deep.equal([PUBLIC]);
    });

    it("verifies the certificate", async () => {
      const secure = createSecureServer(
        {
          cert: readFileSync("test/support/tls/server-cert.pem"),
          key: readFileSync("test/support/tls/server-key.pem"),
        },
        (_request, response) => response.writeHead(204).end(),
      );
      await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
      const { port } = secure.address() as AddressInfo;
      const answer = await send(`https://127.0.0.1:${String(port)}/`);
      expect(answer.code).to.equal(0);
      expect(answer.problem).to.match(/^the connection failed: [A-Z_]+$/);
      await new Promise((resolve) => secure.close(resolve));
    });
  });
});
