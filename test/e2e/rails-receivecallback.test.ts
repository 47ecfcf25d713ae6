import { expect } from "chai";

import { WithRails } from "../support/service/with-rails.js";

describe("ReceiveCallback", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const ACCEPTED = '{"ResultCode":0,"ResultDesc":"Accepted"}';

  it("takes a message without a key, of any type, and stores it once and masked", async () => {
    const id = await service.mint(100);
    const path = service.callbackPath(id);
    const body = '{"PhoneNumber":254708374149,"FirstName":"Wanjiku"}';
    for (const prefix of ["", "/v1"]) {
      const headers = { "content-type": "text/html" };
      const reply = await service.running.rest.send("POST", prefix + path, { body, headers });
      const type = reply.headers["content-type"];
      expect([reply.status, type, reply.text]).to.deep.equal([200, "application/json", ACCEPTED]);
    }
    const { json } = await service.get(`/transactions/${id}/payment`);
    const messages = json["messages"] as { purpose: string; body: string }[];
    expect(messages.map(({ purpose, body: text }) => [purpose, text])).to.deep.equal([
      ["collect", '{"PhoneNumber":"254******149","FirstName":"W***"}'],
    ]);
  });

  it("answers a forged token with the response to a right one", async () => {
    for (const token of ["x", "0".repeat(72), "%F0%9F%92%B8"]) {
      const reply = await service.running.rest.send("POST", `/callbacks/${token}`, { body: "{}" });
      expect([reply.status, reply.text]).to.deep.equal([200, ACCEPTED]);
    }
  });

  it("takes POST only", async () => {
    const reply = await service.running.rest.send("GET", "/callbacks/x");
    expect([reply.status, reply.headers.allow]).to.deep.equal([405, "POST, OPTIONS"]);
  });
});
