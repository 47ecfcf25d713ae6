import { expect } from "chai";

import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { createApiKey } from "../../support/operations/book.js";

describe("creating an API key", () => {
  const command = createApiKey(ORGANIZATION);

  it("stores the key with the hash of its secret", () => {
    const effect = effectOf(decide({}, command));
    expect(effect.entries.map(({ kind }) => kind)).to.deep.equal(["key.created"]);
    const { newKeyId: id, label: name, secretSha256 } = command;
    expect(putOf(effect, "apiKeys")).to.include({ id, name, secretSha256, createdAt: NOW, revokedAt: undefined });
  });

  it("is a replay for a key with the same secret", () => {
    const { newKeyId: id, label: name, scopes, secretSha256 } = command;
    const times = { createdAt: NOW, expiresAt: undefined, revokedAt: undefined };
    const key = { id, organizationId: ORGANIZATION, name, scopes, secretSha256, ...times };
    expect(wordOf(decide({ apiKeys: [key] }, command))).to.equal("replay");
  });
});
