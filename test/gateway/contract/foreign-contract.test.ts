import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "chai";
import { pino } from "pino";

import { createApp } from "../../../gateway/app.js";
import { readContract } from "../../../gateway/contract/contract.js";
import { createUpstream, type Upstream } from "../../../gateway/upstream/upstream.js";
import { FakeServer } from "../../support/fake-server.js";
import { toysContract } from "../../support/toys-contract.js";

describe("a contract that the gateway has never heard of", () => {
  const contract = readContract(toysContract());
  const server = new FakeServer(contract.registry);
  let upstream: Upstream;
  let http: Server;
  let url: string;

  before(async () => {
    await server.start();
    upstream = createUpstream(contract.registry, server.target, 4_096);
    const log = pino({ enabled: false });
    const app = createApp(
      { contract, upstream, log, isStopping: () => false },
      { bodyBytesMax: 4_096, bulkBytesMax: 4_096, requestsMax: 10, callMillisMax: 5_000 },
    );
    http = createServer(app).listen(0, "127.0.0.1");
    await once(http, "listening");
    url = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`;
  });
  after(async () => {
    http.closeAllConnections();
    http.close();
    await once(http, "close");
    upstream.close();
    server.stop();
  });
  beforeEach(() => server.calls.splice(0));

  it("is served, with a body that is one field and a place made of two", async () => {
    server.handle = () => ({ message: { name: "bear & co", box: "big", price: "12.50" } });
    const headers = { "content-type": "application/json" };
    const body = '{"price": 12.50, "inner": {"color": "deep_blue"}}';
    const answer = await fetch(`${url}/v1/boxes/big/toys?is_gift=true`, { method: "POST", headers, body });
    expect(answer.status).to.equal(201);
    expect(answer.headers.get("location")).to.equal("/v1/boxes/big/toys/bear%20%26%20co");
    expect(await answer.text()).to.include('"name":"bear & co","box":"big","price":12.50,');
    expect(server.takeCall()).to.deep.include({
      rpc: "BuildToy",
      message: { box: "big", toy: { price: "12.50", inner: { color: "COLOR_DEEP_BLUE" } }, is_gift: true },
    });
  });

  it("is served with one field as the answer", async () => {
    server.handle = () => ({ message: { toys: [{ name: "a" }, { name: "b" }] } });
    const toys = (await (await fetch(`${url}/boxes/big/toys?count=7`)).json()) as { name: string }[];
    expect(toys.map(({ name }) => name)).to.deep.equal(["a", "b"]);
    expect(server.takeCall().message).to.deep.equal({ box: "big", count: 7 });
  });

  it("is served with its additional bindings", async () => {
    server.handle = () => ({});
    expect((await fetch(`${url}/toys/7`, { method: "DELETE" })).status).to.equal(200);
    expect(server.takeCall()).to.deep.include({ rpc: "FindToys", message: { count: 7 } });
    expect((await fetch(`${url}/accounts`)).status).to.equal(404);
  });
});
