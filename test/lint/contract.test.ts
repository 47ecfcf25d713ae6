import { existsSync, readFileSync } from "node:fs";

import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { reasonsOf } from "../../gateway/problems/reasons.js";
import type { Reason } from "../../src/grpc/errors/refusal.js";
import { statusCodeOf } from "../../src/grpc/errors/status.js";
import { readContract } from "../../src/grpc/messages/contract.js";
import { RPC_REQUESTS } from "../support/callers/rpc-requests.js";
import { generatedDocuments } from "../support/documents/generated.js";

// What no linter sees: that the contract, its tests and its docs speak of the same things.

/**
 * Mint of TransactionService becomes transactions-mint, FreezeAccount of AccountService
 * accounts-freeze.
 */
function testNameOf(service: string, rpc: string): string {
  const resource = service.replace(/Service$/, "");
  const verb = rpc.replace(new RegExp(`${resource}s?$`), "");
  return `${resource}s-${verb}`.toLowerCase();
}

const contract = readContract();
const rpcs = contract.services.flatMap((service) => service.rpcs);

describe("the house is tidy", () => {
  it("has an end-to-end test for each rpc", () => {
    const missing = rpcs
      .map(({ name }) => testNameOf(...(name.split("/") as [string, string])))
      .filter((test) => !existsSync(`test/e2e/${test}.test.ts`));
    expect(missing).to.deep.equal([]);
  });

  it("has a row for each rpc in test/support/callers/rpc-requests.ts, and no other", () => {
    expect(Object.keys(RPC_REQUESTS)).to.have.members(rpcs.map(({ name }) => name));
  });

  it("gives each reason a meaning and a remedy, and the status that the server sends", () => {
    for (const { code, grpcStatus, meaning, remedy } of reasonsOf(contract.files)) {
      expect(meaning, code).to.match(/^[a-z].*[^.]$/);
      expect(remedy, code).to.match(/^[a-z].*[^.]$/);
      if (grpcStatus !== undefined) expect(grpcStatus, code).to.equal(Status[statusCodeOf(code as Reason)]);
    }
  });

  it("names every runtime dependency in docs/dependencies.md, and no other", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
    const [production] = readFileSync("docs/dependencies.md", "utf8").split("Held back");
    const named = [...(production ?? "").matchAll(/^\| (\S+) +\|/gm)].map(([, name]) => name);
    expect(named.filter((name) => name !== "package" && !/^-+$/.test(name ?? ""))).to.have.members(
      Object.keys(manifest.dependencies),
    );
  });

  for (const [file, text] of generatedDocuments()) {
    it(`has in ${file} what the code gives: run make docs after a change`, () => {
      // Not to.equal: the difference of two documents is too long to read.
      expect(readFileSync(file, "utf8") === text, `${file} is as make docs writes it`).to.equal(true);
    });
  }
});
