import { existsSync, readFileSync } from "node:fs";

import { type DescMethod, type DescService, type FileRegistry, getOption, hasOption } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { commentOf } from "../../contract/comments.js";
import { CONTRACT_URL, extensionOf, readContract as readHttpContract } from "../../contract/contract.js";
import { reasonsOf } from "../../gateway/problems/reasons.js";
import type { AnyRefusal } from "../../src/grpc/errors/refusal.js";
import { statusCodeOf } from "../../src/grpc/errors/status.js";
import { readContract, readOperatorsContract } from "../../src/grpc/messages/contract.js";
import { RPC_REQUESTS } from "../support/callers/rpc-requests.js";
import { generatedDocuments } from "../support/documents/generated.js";
import { exampleOf, REASONS } from "../support/refusal-examples.js";

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

/** No rpc has these alone: docs/errors.md tells when they come. */
const OF_ANY_CALL: Readonly<Record<"kesc.v1" | "kesc.admin.v1", readonly string[]>> = {
  "kesc.v1": [
    "MALFORMED_REQUEST",
    "REQUEST_TOO_LARGE",
    "UNSUPPORTED_COMPRESSION",
    "NO_SUCH_RPC",
    "OUTCOME_UNKNOWN",
    "RESTORE_NOT_CONFIRMED",
    "INTERNAL",
  ],
  "kesc.admin.v1": [],
};

function reasonsIn(files: FileRegistry, name: string): readonly string[] {
  const { values = [] } = files.getEnum(name) ?? {};
  return values.filter(({ number }) => number > 0).map((value) => value.name.replace(/^(?:ADMIN_)?ERROR_REASON_/, ""));
}

const OF_OPERATORS = reasonsIn(readOperatorsContract().files, "kesc.admin.v1.AdminErrorReason");

/** Returns the status and the facts that the server sends for a reason. */
function sentFor(reason: string): readonly string[] {
  const { refusal, facts } = exampleOf(reason as AnyRefusal["reason"]);
  return [Status[statusCodeOf(refusal.reason)], ...Object.keys(facts)];
}

function refusalsIn(commented: DescService | DescMethod): readonly string[] {
  const [words = ""] = /(?:\b[Rr]efuses?\b|first checks for)[^]*/.exec(commentOf(commented)) ?? [];
  return words.match(/\b(?!KESC_)[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
}

const GENERATED = await generatedDocuments();

describe("the house is tidy", () => {
  // protoc-gen-grpc-gateway stops at "duplicate annotation".
  it("has one rpc in google.api.http for each method and path", () => {
    const { registry } = readHttpContract(readFileSync(CONTRACT_URL));
    const http = extensionOf(registry, "google.api.http");
    const methods = [...registry].flatMap((desc) => (desc.kind === "service" ? desc.methods : []));
    const rules = methods
      .filter((method) => hasOption(method, http))
      .map((method) => (getOption(method, http) as { pattern: { case: string; value: string } }).pattern)
      .map(({ case: verb, value }) => `${verb} ${value.replaceAll(/\{[^}]*\}/g, "{}")}`);
    expect(rules).to.have.length.greaterThan(40);
    expect(rules).to.deep.equal([...new Set(rules)]);
  });

  it("names the packages of languages whose generators need it, in each file", () => {
    for (const { proto } of readOperatorsContract().files.files) {
      if (!proto.package.startsWith("kesc.")) continue;
      const { goPackage, javaPackage, javaMultipleFiles } = proto.options ?? {};
      expect([goPackage, javaPackage, javaMultipleFiles], proto.name).to.deep.equal([
        `${proto.package.replaceAll(".", "/")};${proto.package.replaceAll(".", "")}`,
        proto.package,
        true,
      ]);
    }
  });

  // An act is called with keys in test/e2e/isolation.test.ts, and by an operator with the examples
  // of its command in test/operators/acts.test.ts.
  it("has an end-to-end test for each rpc, but acts that operators do, too", () => {
    const missing = rpcs
      .filter(({ requiredRoles }) => requiredRoles.length === 0)
      .map(({ name }) => testNameOf(...(name.split("/") as [string, string])))
      .filter((test) => !existsSync(`test/e2e/${test}.test.ts`));
    expect(missing).to.deep.equal([]);
  });

  it("names no other rpc in test/support/callers/rpc-requests.ts and test/support/operations", () => {
    const names = rpcs.map(({ name }) => name.slice(name.indexOf("/") + 1));
    expect(names).to.include.members(Object.keys(RPC_REQUESTS));
  });

  it("gives each reason a meaning and a remedy, and the status and the facts that the server sends", () => {
    for (const { code, grpcStatus, meaning, remedy, facts } of reasonsOf(contract.files)) {
      expect(meaning, code).to.match(/^[a-z].*[^.]$/);
      expect(remedy, code).to.match(/^[a-z].*[^.]$/);
      if (grpcStatus !== undefined) expect(sentFor(code), code).to.have.deep.members([grpcStatus, ...facts]);
    }
  });

  it("gives each reason of operators the status and the facts in docs/admin.md that the server sends", () => {
    const rows = readFileSync("docs/admin.md", "utf8").matchAll(
      /^\| `([A-Z_]+)` +\| ([A-Z_]+) +\| ([a-z0-9_, ]*?) *\|$/gm,
    );
    const documented = Array.from(rows, ([, reason = "", code, facts]) => [
      reason,
      code,
      ...(facts?.match(/\w+/g) ?? []),
    ]);
    expect(documented).to.have.deep.members(OF_OPERATORS.map((reason) => [reason, ...sentFor(reason)]));
  });

  it("names in its contracts the reasons that there are, and no other", () => {
    // Only the service itself meets this one, before it begins a payment.
    const named = [...reasonsIn(contract.files, "kesc.v1.ErrorReason"), ...OF_OPERATORS, "BOOK_RESTORED"];
    expect(REASONS).to.have.members(named);
  });

  for (const [name, files] of [
    ["kesc.v1", contract.files],
    ["kesc.admin.v1", readOperatorsContract().files],
  ] as const) {
    it(`names as refusals of ${name} the reasons that there are, and each of them somewhere`, () => {
      const own = reasonsIn(files, name === "kesc.v1" ? "kesc.v1.ErrorReason" : "kesc.admin.v1.AdminErrorReason");
      const known = new Set([...own, ...reasonsIn(contract.files, "kesc.v1.ErrorReason")]);
      const services = [...files.files].filter(({ proto }) => proto.package === name).flatMap((file) => file.services);
      const named = services.flatMap((service) => [service, ...service.methods]).flatMap(refusalsIn);
      expect(named.filter((reason) => !known.has(reason))).to.deep.equal([]);
      expect(own.filter((reason) => !named.includes(reason))).to.have.members(OF_ANY_CALL[name]);
    });
  }

  it("names every runtime dependency in docs/dependencies.md, and no other", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
    const [production] = readFileSync("docs/dependencies.md", "utf8").split("Held back");
    const named = [...(production ?? "").matchAll(/^\| (\S+) +\|/gm)].map(([, name]) => name);
    expect(named.filter((name) => name !== "package" && !/^-+$/.test(name ?? ""))).to.have.members(
      Object.keys(manifest.dependencies),
    );
  });

  for (const [file, text] of GENERATED) {
    it(`has in ${file} what the code gives: run make docs after a change`, () => {
      // Not to.equal: the difference of two documents is too long to read.
      expect(readFileSync(file, "utf8") === text, `${file} is as make docs writes it`).to.equal(true);
    });
  }
});
