import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

import { expect } from "chai";

import { sharedService } from "../support/service/service.js";

const PLACEHOLDER = "export KESC_API_KEY=kesc_…";

describe("the README's first requests", () => {
  it("work as written, pasted one after the other", async () => {
    const service = await sharedService("sqlite");
    const blocks = [...readFileSync("README.md", "utf8").matchAll(/```bash\n([\s\S]*?)```/g)].map(
      ([, block]) => block ?? "",
    );
    expect(blocks[0]?.trim()).to.equal(PLACEHOLDER);
    const script = blocks
      .slice(1)
      .join("\necho\n")
      .replaceAll("http://127.0.0.1:8080", `http://${service.httpAddress}`)
      .replaceAll("http://127.0.0.1:50051", `http://${service.grpcAddress}`);

    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
      env: { PATH: process.env["PATH"], KESC_API_KEY: service.a.key, KESC_GRPC_ADDRESS: service.grpcAddress },
    });
    const [accountId, minted, redeemed, account] = stdout.split("\n").filter((line) => line !== "");
    expect(accountId).to.match(/^acc_[0-9a-z]{26}$/);
    expect(minted).to.include('"type":"mint"').and.include('"amount":1000.00').and.include('"status":"completed"');
    expect(redeemed).to.include('"type":"redeem"').and.include('"amount":250.00');
    expect(account).to.include('"available_balance":750.00').and.include('"transactions":[');
    expect(stdout).to.include("kesc.v1.TransactionService\n").and.include('"amount": "0.01"');
    expect(stdout).to.include('"reference": "deposit-3"');
  });
});
