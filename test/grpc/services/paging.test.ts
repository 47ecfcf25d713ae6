import { expect } from "chai";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import {
  formatPageToken,
  type PagedList,
  pageRequestOf,
  parsePageSize,
  parsePageToken,
} from "../../../src/grpc/services/paging.js";
import { ORGANIZATION } from "../../support/service/grpc-server.js";

const METADATA = new Map([
  ["a", "1"],
  ["b", "2"],
]);
const REVERSED = new Map([...METADATA].reverse());

const LIST: PagedList = {
  rpc: "ListTransactions",
  organizationId: ORGANIZATION,
  filters: { status: ["FAILED", "PENDING"], type: "MINT", metadata: METADATA },
};

/** The seq from which the list goes on for a token, or "refused". */
function follow(list: PagedList, token = ""): number | undefined | "refused" {
  const parsed = parsePageToken(token);
  if (!parsed.ok) return "refused";
  const page = pageRequestOf(list, { size: 10, token: parsed.value });
  return page.ok ? page.value.beforeSeq : "refused";
}

describe("grpc: a page token", () => {
  it("leads to the position for which it was made, however large the journal is", () => {
    for (const seq of [1, 4_294_967_296, Number.MAX_SAFE_INTEGER]) {
      expect(follow(LIST, formatPageToken(LIST, seq) ?? "")).to.equal(seq);
    }
  });

  it("is absent for the first page and after the last", () => {
    expect(follow(LIST)).to.equal(undefined);
    expect(formatPageToken(LIST, undefined)).to.equal(undefined);
  });

  it("does not depend on the order of the filters, nor of the pairs of a map, nor on those that are absent", () => {
    const same = {
      ...LIST,
      filters: { metadata: REVERSED, type: "MINT", reference: undefined, status: LIST.filters["status"] },
    };
    expect(follow(same, formatPageToken(LIST, 7) ?? "")).to.equal(7);
  });

  const token = formatPageToken(LIST, 7) ?? "";
  for (const [name, list] of [
    ["another rpc", { ...LIST, rpc: "ListAccounts" }],
    ["another organization", { ...LIST, organizationId: "org_7zzzzzzzzzzzzzzzzzzzzzzzzz" as OrganizationId }],
    ["another filter", { ...LIST, filters: { ...LIST.filters, type: "REDEEM" } }],
    ["a list in another order", { ...LIST, filters: { ...LIST.filters, status: ["PENDING", "FAILED"] } }],
    ["a map with another value", { ...LIST, filters: { ...LIST.filters, metadata: new Map([["a", "2"]]) } }],
    ["a filter more", { ...LIST, filters: { ...LIST.filters, reference: "r" } }],
    ["a filter less", { ...LIST, filters: { ...LIST.filters, type: undefined } }],
  ] as const) {
    it(`is refused by ${name}`, () => {
      expect(follow(list, token)).to.equal("refused");
    });
  }

  for (const [name, garbage] of [
    ["words", "the next page please"],
    ["a cut", token.slice(0, -1)],
    ["a tail", `${token}A`],
    ["a blank in it", `${token.slice(0, 5)} ${token.slice(5)}`],
    [
      "another version",
      Buffer.concat([Buffer.of(2), Buffer.from(token, "base64url").subarray(1)]).toString("base64url"),
    ],
    ["a seq past all numbers", Buffer.concat([Buffer.of(1), Buffer.alloc(20, 0xff)]).toString("base64url")],
  ] as const) {
    it(`is refused with ${name}`, () => {
      expect(follow(LIST, garbage)).to.equal("refused");
    });
  }
});

describe("grpc: a page size", () => {
  for (const [asked, size] of [
    [undefined, 100],
    [0, "refused"],
    [1, 1],
    [1000, 1000],
    [1001, "refused"],
    [-1, "refused"],
    [-2_147_483_648, "refused"],
  ] as const) {
    it(`of ${String(asked)} is ${String(size)}`, () => {
      const parsed = parsePageSize(asked);
      expect(parsed.ok ? parsed.value : "refused").to.equal(size);
    });
  }
});
