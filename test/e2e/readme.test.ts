import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { expect } from "chai";

import { ENDINGS } from "../../src/rails/sandbox/endings.js";
import { eventually } from "../support/eventually.js";
import { KESC, Place, RunningKesc } from "../support/service/kesc.js";

const PLACEHOLDER = "export KESC_API_KEY=kesc_…";
const END = /(completed|failed) .*(pay-2026-11-\d\d)/;
const DONE = { millisMax: 20_000, what: () => "what goes over the sandbox rail never ended" };

/** The blocks of a document that a reader pastes into bash. */
function blocksOf(document: string): readonly string[] {
  return [...readFileSync(document, "utf8").matchAll(/```bash\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");
}

describe("the requests of the documents, with the demo of `make run`", () => {
  let place: Place;
  let demo: RunningKesc;
  let addresses: { readonly http: string; readonly grpc: string };
  let key: string;
  before(async () => {
    place = new Place();
    // As an installation has it.
    mkdirSync(join(place.folder, "bin"));
    symlinkSync(resolve(KESC), join(place.folder, "bin/kesc"));
    demo = new RunningKesc(["serve", "--demo"], place.variables);
    const { address, grpcAddress = "" } = await demo.ready;
    addresses = { http: address, grpc: grpcAddress };
    await demo.said("AccountService/GetAccount");
    [, key = ""] = /export KESC_API_KEY=(\S+)/.exec(demo.stdout) ?? [];
  });
  after(async () => {
    await demo.end();
    place.remove();
  });

  /** Pastes the blocks one after the other. Returns the lines that are not empty. */
  async function paste(blocks: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<string[]> {
    const script = blocks
      .join("\necho\n")
      .replaceAll("http://127.0.0.1:8080", `http://${addresses.http}`)
      .replaceAll("http://127.0.0.1:50051", `http://${addresses.grpc}`);
    const PATH = `${join(place.folder, "bin")}:${String(process.env["PATH"])}`;
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
      env: { PATH, KESC_API_KEY: key, KESC_GRPC_ADDRESS: addresses.grpc, ...variables },
    });
    return stdout.split("\n").filter((line) => line !== "");
  }

  async function completed(id: string): Promise<void> {
    const url = `http://${addresses.http}/transactions/${id}`;
    const status = async (): Promise<unknown> =>
      ((await (await fetch(url, { headers: { "x-api-key": key } })).json()) as { status: unknown }).status;
    await eventually(async () => (await status()) === "completed", DONE);
  }

  /** The blocks of a document after its first, which exports the key. */
  function requestsOf(document: string): readonly string[] {
    const [placeholder, ...blocks] = blocksOf(document);
    expect(placeholder?.trim()).to.equal(PLACEHOLDER);
    return blocks;
  }

  it("work as the README has them: the first mint, its repeat, and a redemption whose callback is lost", async () => {
    const [accountId, minted, repeated, redeemed, ...others] = await paste(requestsOf("README.md"));
    expect(accountId).to.match(/^acc_[0-9a-z]{26}$/);
    expect(minted).to.include('"type":"mint"').and.include('"amount":1000.00').and.include('"status":"completed"');
    expect(repeated).to.equal(minted);
    expect(redeemed).to.include('"type":"redeem"').and.include('"amount":250.00').and.include('"status":"pending"');
    expect(others).to.have.lengthOf(1);
    await completed((JSON.parse(redeemed ?? "") as { id: string }).id);
  });

  it("work as the README has them for grpcurl, given to buf curl", async () => {
    const [, options = "", address = "", method = ""] =
      /`grpcurl -plaintext (.+) (\S+:50051) (\S+)`/.exec(readFileSync("README.md", "utf8")) ?? [];
    const [account = ""] = requestsOf("README.md");
    const lines = await paste([account, `npx buf curl --protocol grpc ${options} http://${address}/${method}`]);
    expect(lines.join("\n")).to.include('"userId": "achieng"');
  });

  it("work as the quickstart of REST has them, also after those of the README", async () => {
    const lines = await paste(requestsOf("docs/guides/rest.md"));
    const [accountId, minted, redeemed, account, ...others] = lines;
    expect(accountId).to.match(/^acc_[0-9a-z]{26}$/);
    expect(minted).to.include('"type":"mint"').and.include('"amount":1000.00').and.include('"status":"completed"');
    expect(redeemed).to.include('"type":"redeem"').and.include('"amount":250.00').and.include('"rail":"direct"');
    expect(account).to.include('"available_balance":750.00').and.include('"transactions":[');
    const stdout = others.join("\n");
    expect(stdout).to.match(/"rail":"sandbox"[^]*"rail":"sandbox"/);
    await completed(/^txn_[0-9a-z]{26}$/m.exec(stdout)?.[0] ?? "");
  });

  it("work as the quickstart of gRPC has them", async () => {
    const [account = ""] = requestsOf("README.md");
    const lines = await paste([account, ...requestsOf("docs/guides/grpc.md")]);
    const stdout = lines.join("\n");
    expect(stdout).to.include("kesc.v1.TransactionService\n").and.include('"amount": "0.01"');
    expect(stdout).to.include('"reference": "deposit-3"');
  });

  it("work as the guide to bulk payouts has them: sent, sent again, and what became of each", async () => {
    const blocks = [`cd ${place.folder}`, ...requestsOf("docs/guides/bulk-payouts.md")];
    const sent = await paste(blocks.slice(0, -1));
    expect(sent).to.deep.equal(["6 lines: 6 new, 0 done before.", "6 lines: 0 new, 6 done before."]);
    let ends: readonly (readonly string[] | undefined)[] = [];
    const ended = async (): Promise<boolean> => {
      const lines = await paste(blocks.slice(-1));
      ends = lines.filter((line) => line.startsWith("txn_")).map((line) => END.exec(line)?.slice(1));
      return !ends.includes(undefined);
    };
    await eventually(ended, DONE);
    expect(ends).to.have.deep.members([
      ["completed", "pay-2026-11-00"],
      ["completed", "pay-2026-11-05"],
      ["failed", "pay-2026-11-03"],
    ]);
  });

  it("work as docs/sandbox.md has them: each ending once, and an order that is advanced", async () => {
    const [accountId = ""] = await paste(blocksOf("README.md").slice(1, 2));
    const lines = await paste(blocksOf("docs/sandbox.md"), { ACCOUNT_ID: accountId });
    // Two requests of one block print on one line.
    const objects = lines.flatMap((line) => line.replaceAll("}{", "}\n{").split("\n"));
    const transactions = objects.map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>);
    const references = transactions.map(({ reference }) => reference);
    const tried = ENDINGS.map(({ digits }) => `try-${digits}`);
    expect(references.slice(0, tried.length)).to.deep.equal(tried);
    const [waiting, payment, funded, paid, advanced, again, deposit, canceled] = transactions.slice(tried.length);
    expect(waiting).to.include({ reference: "try-13", rail: "sandbox", type: "mint" });
    expect(payment).to.include({ transaction_id: waiting?.["id"] });
    expect(funded).to.include({ reference: "fund-03", status: "completed" });
    expect(paid).to.include({ reference: "pay-03", type: "redeem", status: "pending" });
    expect(advanced).to.include({ reference: "try-13" });
    expect(again).to.include({ reference: "try-13" });
    expect(deposit).to.include({ status: "credited", account_id: accountId, rail_receipt: "sandbox:SKR4TD81HW" });
    expect(canceled).to.include({ reference: "try-17", status: "canceled", status_note: "changed my mind" });
    await completed(String(waiting?.["id"]));
  });
});
