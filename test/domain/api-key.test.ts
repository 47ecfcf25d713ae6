import { expect } from "chai";

import {
  type ApiKey,
  asWritten,
  credentialOfCertificate,
  isLive,
  isWhole,
  namesOfCredential,
  parseCertificateName,
  parseScope,
} from "../../src/domain/api-key.js";
import type { ApiKeyId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { EARLIER, NOW, ORGANIZATION } from "../support/names.js";

const LATER = toUnixMillis(NOW + 1);

const key = (given: Partial<ApiKey>): ApiKey => ({
  id: "key_01jd2r6p5vf8ksw3xhb1z7q4ye" as ApiKeyId,
  organizationId: ORGANIZATION,
  cell: 0,
  name: "till",
  scopes: ["accounts:read"],
  createdAt: EARLIER,
  expiresAt: undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ...given,
});

describe("the row of an organization", () => {
  const organization = {
    id: ORGANIZATION,
    name: "Duka",
    isSandbox: false,
    isSuspended: false,
    areReceiptsRequired: false,
    cell: 0,
    createdAt: EARLIER,
  };

  it("is whole or changed, and is shown as it is written", () => {
    const found = [organization, { changed: organization }];
    expect(found.map(isWhole)).to.deep.equal([true, false]);
    expect(found.map(asWritten)).to.deep.equal([organization, organization]);
  });
});

describe("an API key", () => {
  for (const [what, given, live] of [
    ["is live when it never expires", {}, true],
    ["is live until it expires", { expiresAt: LATER }, true],
    ["is dead at the moment at which it expires", { expiresAt: NOW }, false],
    ["is dead once it has expired", { expiresAt: EARLIER }, false],
    ["is dead once it is revoked", { revokedAt: EARLIER }, false],
    ["is dead once it is revoked, though it has not expired", { revokedAt: EARLIER, expiresAt: LATER }, false],
  ] as const) {
    it(what, () => {
      expect(isLive(key(given), NOW)).to.equal(live);
    });
  }
});

describe("a scope", () => {
  for (const scope of [
    "accounts:read",
    "accounts:write",
    "transactions:read",
    "transactions:write",
    "transactions:resolve",
    "deposits:read",
    "events:read",
    "books:read",
    "webhooks:read",
    "webhooks:write",
    "destinations:write",
  ]) {
    it(`may be ${scope}`, () => {
      expect(parseScope(scope)).to.deep.equal({ ok: true, value: scope });
    });
  }

  for (const text of ["", "accounts", "accounts:delete", "ACCOUNTS:READ", "accounts:read ", "constructor"]) {
    it(`is refused when it is ${JSON.stringify(text)}`, () => {
      expect(parseScope(text)).to.deep.equal({
        ok: false,
        code: "UNKNOWN_VALUE",
        problem:
          "must be one of accounts:read, accounts:write, transactions:read, transactions:write, transactions:resolve, " +
          "deposits:read, events:read, books:read, webhooks:read, webhooks:write, destinations:write",
      });
    });
  }
});

describe("a name of a certificate", () => {
  for (const [text, name] of [
    ["URI:spiffe://example.com/Billing", "URI:spiffe://example.com/Billing"],
    ["DNS:Billing.Example.com", "DNS:billing.example.com"],
    ["DNS:*.example.com", "DNS:*.example.com"],
  ] as const) {
    it(`is ${text}`, () => {
      expect(parseCertificateName(text)).to.deep.equal({ ok: true, value: name });
    });
  }

  for (const text of [
    "",
    "example.com",
    "IP:127.0.0.1",
    "URI:",
    "URI:a b",
    "URI:a,URI:b",
    "uri:a",
    `URI:${"a".repeat(201)}`,
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(parseCertificateName(text)).to.include({ ok: false, code: "FORMAT" });
    });
  }
});

describe("the text by which the key of a certificate is found", () => {
  it("gives the names back", () => {
    const names = ["URI:spiffe://example.com/billing", "DNS:billing.example.com"];
    expect(namesOfCredential(credentialOfCertificate(names.join(",")))).to.deep.equal(names);
  });

  it("is never the secret of a key", () => {
    expect(namesOfCredential("kesc_0_certificate")).to.equal(undefined);
  });
});
