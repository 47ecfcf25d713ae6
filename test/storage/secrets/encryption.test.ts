import { createSecretKey, randomBytes } from "node:crypto";

import { expect } from "chai";

import { decrypt, encrypt } from "../../../src/storage/secrets/encryption.js";

const key = createSecretKey(Buffer.alloc(32, 1));
const CONTEXT = ["kesc-test", "org_1", "acc_1", "email"];
const OVERHEAD_BYTES = 12 + 16;

describe("an encrypted text", () => {
  for (const plain of ["", "a", "wanjiku@example.com", "مرحبا 😀", "x".repeat(10_000)]) {
    it(`is read again with the same key and context: ${plain.slice(0, 20)}`, () => {
      const sealed = encrypt(key, plain, CONTEXT);
      expect(sealed).to.have.lengthOf(Buffer.byteLength(plain) + OVERHEAD_BYTES);
      expect(decrypt(key, sealed, CONTEXT).toString()).to.equal(plain);
    });
  }

  it("may be bytes", () => {
    const plain = randomBytes(32);
    expect(decrypt(key, encrypt(key, plain, CONTEXT), CONTEXT)).to.deep.equal(plain);
  });

  it("differs each time, and does not show the text", () => {
    const [first, second] = [encrypt(key, "+254712345678", CONTEXT), encrypt(key, "+254712345678", CONTEXT)];
    expect(first).not.to.deep.equal(second);
    expect(first.includes("+254712345678")).to.equal(false);
  });

  it("cannot be read with another key", () => {
    const sealed = encrypt(key, "a", CONTEXT);
    expect(() => decrypt(createSecretKey(Buffer.alloc(32, 2)), sealed, CONTEXT)).to.throw(/authenticate/);
  });

  for (const [what, context] of [
    ["another account", ["kesc-test", "org_1", "acc_2", "email"]],
    ["another field", ["kesc-test", "org_1", "acc_1", "phone_number"]],
    ["a part less", ["kesc-test", "org_1", "acc_1"]],
    ["the same letters, parted otherwise", ["kesc-test", "org_1acc", "_1", "email"]],
    ["none", []],
  ] as const) {
    it(`cannot be read in another context: ${what}`, () => {
      const sealed = encrypt(key, "a", CONTEXT);
      expect(() => decrypt(key, sealed, context)).to.throw(/authenticate/);
    });
  }

  it("cannot be read after any one bit of it was flipped", () => {
    const sealed = encrypt(key, "user", CONTEXT);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const flipped = Buffer.from(sealed);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => decrypt(key, flipped, CONTEXT), `bit ${String(bit)}`).to.throw(/authenticate/);
    }
  });

  for (const bytes of [0, 11, 12, 15, 27]) {
    it(`cannot be read when only ${String(bytes)} bytes of it are left`, () => {
      const sealed = encrypt(key, "user", CONTEXT).subarray(0, bytes);
      expect(() => decrypt(key, sealed, CONTEXT)).to.throw();
    });
  }
});
