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
