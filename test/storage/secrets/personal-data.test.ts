import { createSecretKey } from "node:crypto";

import { expect } from "chai";

import { blindIndexOf, decryptPersonal, encryptPersonal } from "../../../src/storage/secrets/personal-data.js";
import { newAccountId, ORGANIZATION, STRANGER } from "../../support/names.js";

const keyOf = (fill: number): ReturnType<typeof createSecretKey> => createSecretKey(Buffer.alloc(32, fill));

describe("a personal field", () => {
  const keys = { data: keyOf(1) };
  const place = { organizationId: ORGANIZATION, ownerId: newAccountId(), field: "email" } as const;
  const sealed = encryptPersonal(keys, place, "wanjiku@example.com");

  it("is read in its own place", () => {
    expect(decryptPersonal(keys, place, sealed)).to.equal("wanjiku@example.com");
  });

  for (const [what, other] of [
    ["another organization", { ...place, organizationId: STRANGER }],
    ["another account", { ...place, ownerId: newAccountId() }],
    ["another field", { ...place, field: "phone_number" }],
  ] as const) {
    it(`is not read in the place of ${what}`, () => {
      expect(() => decryptPersonal(keys, other, sealed)).to.throw(/cannot be read: the row was changed/);
    });
  }

  it("is not read with another organization's key", () => {
    expect(() => decryptPersonal({ data: keyOf(2) }, place, sealed)).to.throw(/cannot be read: the row was changed/);
  });
});

describe("a blind index", () => {
  const keys = { index: keyOf(1) };
  const emailIndex = (value: string): string => blindIndexOf(keys, "email", value).toString("hex");

  it("is the same for the same text, and 32 bytes long", () => {
    expect(emailIndex("a@example.com")).to.equal(emailIndex("a@example.com"));
    expect(blindIndexOf(keys, "email", "a@example.com")).to.have.lengthOf(32);
  });

  it("ignores the case of an e-mail address", () => {
    expect(emailIndex("Wanjiku.K@Example.COM")).to.equal(emailIndex("wanjiku.k@example.com"));
  });

  for (const [what, other] of [
    ["another text", blindIndexOf(keys, "email", "b@example.com")],
    ["another field", blindIndexOf(keys, "phone_number", "a@example.com")],
    ["another key", blindIndexOf({ index: keyOf(2) }, "email", "a@example.com")],
  ] as const) {
    it(`differs for ${what}`, () => {
      expect(other.toString("hex")).not.to.equal(emailIndex("a@example.com"));
    });
  }
});
