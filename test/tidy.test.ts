import { existsSync, readFileSync } from "node:fs";

import type { DescEnum } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { withResults } from "../bench/report/render.js";
import { newestResults } from "../bench/report/results.js";
import { CONTRACT_URL, readContract as readRoutes } from "../gateway/contract/contract.js";
import { reasonsOf } from "../gateway/problems/reasons.js";
import { VARIABLES } from "../runtime/variables.js";
import type { Reason } from "../src/grpc/errors/refusal.js";
import { statusCodeOf } from "../src/grpc/errors/status.js";
import { readContract } from "../src/grpc/messages/contract.js";
import { RPC_REQUESTS } from "./support/callers/rpc-requests.js";

// What no linter sees: that the contract, its tests and its docs speak of the same things.

/** The cells of the Markdown rows whose first cell matches, as plain text. */
function rowsOf(file: string, firstCell: RegExp): string[][] {
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")))
    .filter(([, first]) => first !== undefined && firstCell.test(first))
    .map((cells) => cells.slice(1, -1));
}

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
  it("documents each rpc in docs/api.md, with its route and its scope", () => {
    const routes = new Map(readRoutes(readFileSync(CONTRACT_URL)).routes.map((route) => [route.rpc.path, route]));
    const expected = rpcs.map(({ path, name, requiredScope }) => {
      const route = routes.get(path);
      return [
        name.replace("/", "."),
        `${route?.method ?? "no"} ${route?.path.text ?? "route"}`,
        requiredScope ?? "no key",
      ];
    });
    expect(rowsOf("docs/api.md", /^\w+Service\.\w+$/)).to.have.deep.members(expected);
  });

  it("has an end-to-end test for each rpc", () => {
    const missing = rpcs
      .map(({ name }) => testNameOf(...(name.split("/") as [string, string])))
      .filter((test) => !existsSync(`test/e2e/${test}.test.ts`));
    expect(missing).to.deep.equal([]);
  });

  it("has a row for each rpc in test/support/callers/rpc-requests.ts, and no other", () => {
    expect(Object.keys(RPC_REQUESTS)).to.have.members(rpcs.map(({ name }) => name));
  });

  it("documents each reason in docs/errors.md, as its page at the gateway does, and no other", () => {
    const expected = reasonsOf(contract.files).map(({ code, grpcStatus, httpStatus, facts, remedy }) =>
      grpcStatus === undefined
        ? [code, String(httpStatus), remedy]
        : [code, grpcStatus, String(httpStatus), facts.join(", "), remedy],
    );
    expect(rowsOf("docs/errors.md", /^[A-Z_]+$/)).to.have.deep.members(expected);
  });

  it("gives each reason a meaning and a remedy, and the status that the server sends", () => {
    for (const { code, grpcStatus, meaning, remedy } of reasonsOf(contract.files)) {
      expect(meaning, code).to.match(/^[a-z].*[^.]$/);
      expect(remedy, code).to.match(/^[a-z].*[^.]$/);
      if (grpcStatus !== undefined) expect(grpcStatus, code).to.equal(Status[statusCodeOf(code as Reason)]);
    }
  });

  it("documents each code of a field in docs/errors.md, and no other", () => {
    const { values } = contract.files.getEnum("kesc.v1.FieldReason") as DescEnum;
    const names = values.map(({ name }) => name.replace(/^FIELD_REASON_/, "").toLowerCase());
    const documented = rowsOf("docs/errors.md", /^[a-z_]+$/).filter((cells) => cells.length === 2);
    expect(documented.map(([code]) => code)).to.have.members([
      "code",
      ...names.filter((name) => name !== "unspecified"),
    ]);
  });

  it("shows each variable of the environment in the README, as `kesc help` does", () => {
    const expected = Object.entries(VARIABLES).map(([name, { fallback, meaning }]) => [name, fallback ?? "", meaning]);
    expect(rowsOf("README.md", /^(DATABASE_URL|DATABASE_URL_FILE|KESC_[A-Z_]+)$/)).to.deep.equal(expected);
  });

  it("names every runtime dependency in docs/dependencies.md, and no other", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
    const [production] = readFileSync("docs/dependencies.md", "utf8").split("Held back");
    const named = [...(production ?? "").matchAll(/^\| (\S+) +\|/gm)].map(([, name]) => name);
    expect(named.filter((name) => name !== "package" && !/^-+$/.test(name ?? ""))).to.have.members(
      Object.keys(manifest.dependencies),
    );
  });

  it("shows the newest results of the benchmark in docs/performance.md, as `make results` writes them", () => {
    const document = readFileSync("docs/performance.md", "utf8");
    expect(document).to.equal(withResults(document, newestResults()));
  });
});
