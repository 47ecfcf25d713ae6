import { expect } from "chai";

import { callerOf, FairShare } from "../../runtime/fair-share.js";

describe("a fair share", () => {
  it("gives one caller alone half of the slots, and the next caller one", () => {
    const slots = new FairShare(8);
    const acquired = Array.from("aaaaaabbbc", (caller) => slots.acquire(caller));
    expect(acquired.map(Number).join("")).to.equal("1111001101");
  });

  it("gives a released slot to any caller", () => {
    const slots = new FairShare(2);
    expect([slots.acquire("a"), slots.acquire("a"), slots.acquire("b"), slots.acquire("c")]).to.deep.equal([
      true,
      false,
      true,
      false,
    ]);
    slots.release("a");
    expect(slots.acquire("c")).to.equal(true);
    slots.release("b");
    slots.release("c");
    expect([slots.acquire("a"), slots.acquire("b"), slots.acquire("b")]).to.deep.equal([true, true, false]);
  });
});

describe("the caller of a credential", () => {
  for (const credential of ["kesc_secret", "Bearer kesc_secret", "bearer   kesc_secret"]) {
    it(`is the key in "${credential}"`, () => {
      expect(callerOf(credential)).to.equal("kesc_secret");
    });
  }

  it("is one and the same for all calls without a key", () => {
    expect(callerOf("")).to.equal("");
  });
});
