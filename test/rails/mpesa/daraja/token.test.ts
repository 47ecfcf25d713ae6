import { expect } from "chai";

import { AccessToken, type Grant } from "../../../../src/rails/mpesa/daraja/token.js";

const LIFE_MILLIS = 1_000_000;

/** A rail that grants "token 1", "token 2" and so on, when the test lets it. */
class TokenRail {
  requests = 0;
  nowMillis = 0;
  readonly token = new AccessToken(
    () => new Promise((resolve) => this.#waiting.push(resolve)),
    () => this.nowMillis,
  );
  readonly #waiting: ((grant: Grant) => void)[] = [];

  answer(grant?: Grant): void {
    this.requests += 1;
    this.#waiting.shift()?.(
      grant ?? { kind: "granted", token: `token ${String(this.requests)}`, lifeMillis: LIFE_MILLIS },
    );
  }

  get waiting(): number {
    return this.#waiting.length;
  }
}

describe("the access token of a rail", () => {
  let rail: TokenRail;

  beforeEach(() => {
    rail = new TokenRail();
  });

  /** Takes the token, which the rail grants if it is asked. */
  async function taken(request = rail.token.current()): Promise<string> {
    while (rail.waiting > 0) rail.answer();
    const result = await request;
    return result.kind === "token" ? result.token : result.code;
  }

  it("is requested once, however many callers wait for it", async () => {
    const callers = Array.from({ length: 20 }, () => rail.token.current());
    expect(rail.waiting).to.equal(1);
    rail.answer();
    expect(new Set(await Promise.all(callers.map((caller) => taken(caller))))).to.deep.equal(new Set(["token 1"]));
  });

  it("is kept until 90 % of its life are over", async () => {
    expect(await taken()).to.equal("token 1");
    rail.nowMillis = LIFE_MILLIS * 0.9 - 1;
    expect(await taken()).to.equal("token 1");
    rail.nowMillis += 1;
    expect(await taken()).to.equal("token 2");
  });

  it("counts its life from before the request", async () => {
    const first = rail.token.current();
    rail.nowMillis = 500_000;
    expect(await taken(first)).to.equal("token 1");
    rail.nowMillis = LIFE_MILLIS * 0.9;
    expect(await taken()).to.equal("token 2");
  });

  it("is replaced once, however many callers were refused with it", async () => {
    await taken();
    const callers = Array.from({ length: 5 }, () => rail.token.replacing("token 1"));
    expect(rail.waiting).to.equal(1);
    rail.answer();
    expect(await taken(callers[4])).to.equal("token 2");
  });

  it("is not replaced for a caller who was refused with an older one", async () => {
    await taken();
    expect(await taken(rail.token.replacing("token 1"))).to.equal("token 2");
    expect(await taken(rail.token.replacing("token 1"))).to.equal("token 2");
    expect(rail.requests).to.equal(2);
  });

  it("is requested again after a failure, which all who waited see", async () => {
    const callers = [rail.token.current(), rail.token.current()];
    rail.answer({ kind: "failed", code: "HTTP_503" });
    expect(await Promise.all(callers)).to.deep.equal([
      { kind: "failed", code: "HTTP_503" },
      { kind: "failed", code: "HTTP_503" },
    ]);
    expect(await taken()).to.equal("token 2");
  });
});
