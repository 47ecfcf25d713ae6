import { readFileSync } from "node:fs";

import { expect } from "chai";

import { CONTRACT_URL, readContract } from "../../../contract/contract.js";
import { reasonsOf } from "../../../gateway/problems/reasons.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

describe("the pages about errors", () => {
  const fixture = GatewayFixture.ofSuite();

  it("open from the type of a problem, without a key", async () => {
    const { json } = await fixture.send("GET", "/nowhere");
    const page = await fixture.send("GET", String(json["type"]));
    expect(page.status).to.equal(200);
    expect(page.headers["content-type"]).to.equal("text/plain; charset=utf-8");
    expect(page.text).to.match(/^No such route\n\ncode +NO_SUCH_ROUTE\nHTTP +404\n/);
  });

  it("say of a reason what the contract says", async () => {
    const { text } = await fixture.send("GET", "/errors/insufficient-funds");
    expect(text).to.equal(`Insufficient funds

code   INSUFFICIENT_FUNDS
HTTP   422
gRPC   FAILED_PRECONDITION
facts  available, requested

Meaning: the available balance is smaller than the requested amount.

What to do: ask for less, or mint first; the reference stays free.

All errors: /errors
`);
  });

  it("are listed at /errors, one for each reason", async () => {
    const { text } = await fixture.send("GET", "/errors");
    const paths = text.split("\n").flatMap((line) => /^\/errors\/\S+/.exec(line) ?? []);
    const codes: string[] = [];
    for (const path of paths) {
      const page = await fixture.send("GET", path);
      codes.push(/^code +(\w+)$/m.exec(page.text)?.[1] ?? path);
    }
    const { registry } = readContract(readFileSync(CONTRACT_URL));
    expect(codes).to.deep.equal(reasonsOf(registry).map(({ code }) => code));
  });

  it("of a reason that does not exist are not found", async () => {
    const { json } = await fixture.send("GET", "/errors/no-such-reason");
    expect(json).to.include({ status: 404, code: "NO_SUCH_ROUTE" });
  });
});
