import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { loadSync } from "@grpc/proto-loader";
import { expect } from "chai";

const INCLUDE = "dist/proto/include";
const SERVICES = ["kesc/v1/account_service.proto", "kesc/v1/transaction_service.proto"];
const DETAILS = ["google/rpc/error_details.proto", "health/v1/health.proto"];

describe("the package", () => {
  it("has one folder from which a client can load the whole contract", () => {
    // A copy far from this checkout: no other folder can help.
    const folder = mkdtempSync(join(tmpdir(), "kesc-include-"));
    try {
      cpSync(INCLUDE, folder, { recursive: true });
      const loaded = loadSync([...SERVICES, ...DETAILS], { includeDirs: [folder], keepCase: true });
      expect(loaded["kesc.v1.TransactionService"]).to.have.property("Mint");
      expect(loaded["kesc.v1.AccountService"]).to.have.property("GetAccount");
      expect(loaded["google.rpc.ErrorInfo"]).to.have.property("format");
      // proto-loader has its own copies of google/protobuf. Compilers of other languages may not.
      expect(importsOf(folder).filter((name) => !existsSync(join(folder, name)))).to.deep.equal([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("carries the programs, the contract and the documents, and no tests", () => {
    const listed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ files }] = JSON.parse(listed) as [{ files: readonly { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).to.include.members([
      "dist/bin/kesc.js",
      "dist/bin/worker.js",
      "dist/bin/LICENSES.txt",
      "dist/src/client/kesc-client.js",
      "dist/src/client/kesc-client.d.ts",
      "dist/src/gen/client/tables.js",
      "dist/src/gen/client/messages.d.ts",
      "dist/proto/kesc.binpb",
      "README.md",
      "docs/api.md",
      ...[
        ...SERVICES,
        "google/api/annotations.proto",
        "google/rpc/status.proto",
        "google/protobuf/timestamp.proto",
      ].map((path) => `${INCLUDE}/${path}`),
    ]);
    expect(paths.filter((path) => /^(dist\/)?(test|bench|data|keys)\//.test(path))).to.deep.equal([]);
  });
});

/** The names of all files that the proto files of a folder import. */
function importsOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".proto"));
  return files.flatMap((name) =>
    [...readFileSync(join(folder, name), "utf8").matchAll(/^import (?:public )?"(.+)";/gm)].map(
      ([, path]) => path ?? "",
    ),
  );
}
