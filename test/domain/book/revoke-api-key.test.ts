import { expect } from "chai";

import type { ApiKeyId } from "../../../src/domain/values/ids.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { EARLIER, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { revokeApiKey } from "../../support/operations/book.js";

const id = "key_1" as ApiKeyId;
const key = {
  id,
  organizationId: ORGANIZATION,
  name: "till",
  scopes: [],
  createdAt: EARLIER,
  expiresAt: undefined,
  revokedAt: undefined,
  secretSha256: "",
};

describe("revoking an API key", () => {
  it("ends it for ever", () => {
    const effect = effectOf(decide({ apiKeys: [key] }, revokeApiKey(ORGANIZATION, id)));
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["key.revoked"]);
    expect(putOf(effect, "apiKeys")).to.deep.equal({ ...key, revokedAt: NOW });
  });

  for (const [expected, organization, revokedAt] of [
    ["API_KEY_NOT_FOUND", STRANGER, undefined],
    ["replay", ORGANIZATION, EARLIER],
  ] as const) {
    it(`decides ${expected}`, () => {
      expect(wordOf(decide({ apiKeys: [{ ...key, revokedAt }] }, revokeApiKey(organization, id)))).to.equal(expected);
    });
  }
});
