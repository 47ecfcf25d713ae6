import { expect } from "chai";

import { Callers } from "../../../gateway/http/callers.js";

describe("gateway: the names of callers", () => {
  const key = { "x-api-key": "kesc_a" };
  const bearer = { authorization: "bearer   kesc_a" };

  it("are the same for all keys that the server has not accepted", () => {
    const callers = new Callers();
    callers.learn(key, "NO_SUCH_ROUTE");
    callers.learn(key, undefined);
    const names = [key, { "x-api-key": "kesc_b" }, {}].map((headers) => callers.nameOf(headers));
    expect(names).to.deep.equal(["", "", ""]);
  });

  it("are a key's own once the server has accepted it, until the server refuses it", () => {
    const callers = new Callers();
    callers.learn(key, "OK");
    callers.learn({ "x-api-key": "kesc_b" }, "OK");
    expect(callers.nameOf(bearer)).to.equal(callers.nameOf(key));
    expect(callers.nameOf(key)).not.to.be.oneOf(["", "kesc_a", callers.nameOf({ "x-api-key": "kesc_b" })]);
    callers.learn(bearer, "INVALID_API_KEY");
    expect(callers.nameOf(key)).to.equal("");
  });
});
