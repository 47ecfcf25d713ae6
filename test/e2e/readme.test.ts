import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect } from "chai";

import { type Daraja, startDaraja } from "../../daraja/simulator.js";
import { ENDINGS } from "../../src/rails/sandbox/endings.js";
import { blocksOf, codeOf, pasted } from "../support/documents/pasted.js";
import { eventually } from "../support/eventually.js";
import { freePort } from "../support/postgres-node.js";
import { KESC, Place, RunningKesc, type Variables } from "../support/service/kesc.js";
import { Receiver } from "../support/webhooks/receiver.js";

const PLACEHOLDER = "export KESC_API_KEY=kesc_…";
const END = /(completed|failed) .*(pay-2026-11-\d\d)/;
const DONE = { millisMax: 20_000, what: () => "what goes over the sandbox rail never ended" };

const INTEGRATE = "docs/integrate.md";
/** A call of grpcurl, on one line. */
const GRPCURL = /^grpcurl -plaintext (.* )?(\S+:50051) (\S+)$/gm;
const MPESA = "examples/mpesa/README.md";
const SIMULATOR = "http://127.0.0.1:8090";

/** The same call by buf curl, which `npm ci` installs. */
function bufCurl(_: string, options = "", address: string, method: string): string {
  const call = method === "list" ? `--list-services http://${address}` : `${options}http://${address}/${method}`;
  return `npx buf curl --protocol grpc ${call}`;
}

describe("the requests of the documents, with the demo of `make run`", () => {
  let place: Place;
  let demo: RunningKesc;
  let addresses: { readonly http: string; readonly grpc: string };
  let key: string;
  let variables: Variables;
  let daraja: Daraja;
  let receiver: Receiver;
  before(async () => {
    place = new Place();
    [daraja, receiver] = await Promise.all([startDaraja(), Receiver.start()]);
    cpSync("examples/mpesa", join(place.folder, "examples/mpesa"), { recursive: true });
    const settings = join(place.folder, "examples/mpesa/simulator.json");
    writeFileSync(settings, readFileSync(settings, "utf8").replace(SIMULATOR, daraja.url));
    addresses = { http: `127.0.0.1:${String(await freePort())}`, grpc: "" };
    // As an installation has it.
    mkdirSync(join(place.folder, "bin"));
    symlinkSync(resolve(KESC), join(place.folder, "bin/kesc"));
    variables = { ...place.variables, ...(await variablesOfStarts()), KESC_HTTP_ADDRESS: addresses.http };
    // As the shell starts it.
    demo = new RunningKesc(["serve", "--demo"], { ...variables, NODE_OPTIONS: "--max-semi-space-size=64" });
    const { grpcAddress = "" } = await demo.ready;
    addresses = { ...addresses, grpc: grpcAddress };
    await demo.said("Next, ");
    [, key = ""] = /export KESC_API_KEY=(\S+)/.exec(demo.stdout) ?? [];
  });
  after(async () => {
    await demo.end();
    await Promise.all([daraja.close(), receiver.close()]);
    place.remove();
  });

  /** Runs what the documents do before they start the service. Returns its variables. */
  async function variablesOfStarts(): Promise<Variables> {
    const start = /^(.*)make run$/ms;
    const blocks = [MPESA, "docs/webhooks.md"].flatMap((document) =>
      codeOf(document, "").filter((code) => start.test(code)),
    );
    expect(blocks).to.have.lengthOf(2);
    const printed = await paste([`cd ${place.folder}`, ...blocks.map((code) => code.replace("make run", "env"))]);
    const given = printed.flatMap((line) => [...line.matchAll(/^(KESC_(?:CALLBACK|WEBHOOKS)_\w+)=(.+)$/g)]);
    // The service of the test runs in another folder.
    return Object.fromEntries(
      given.map(([, name = "", value = ""]) => [name, value.replace(/^\.\//, `${place.folder}/`)]),
    );
  }

  function paste(blocks: readonly string[], given: Variables = {}): Promise<string[]> {
    const PATH = `${join(place.folder, "bin")}:${String(process.env["PATH"])}`;
    return pasted(
      blocks.map((block) => block.replaceAll("http://127.0.0.1:9000/hooks", receiver.url)),
      addresses,
      { PATH, KESC_API_KEY: key, KESC_GRPC_ADDRESS: addresses.grpc, ...given },
    );
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

  it("stand below a first screen without a warning", () => {
    expect(demo.stdout + demo.stderr).to.not.contain('"level":"warn"');
  });

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
    const [, call = ""] = /`(grpcurl -plaintext .+:50051 \S+)`/.exec(readFileSync("README.md", "utf8")) ?? [];
    const [account = ""] = requestsOf("README.md");
    const lines = await paste([account, call.replace(GRPCURL, bufCurl)]);
    expect(lines.join("\n")).to.include('"userId": "achieng"');
  });

  it("work as docs/integrate.md has them for REST, also after those of the README", async () => {
    expect(blocksOf(INTEGRATE)[0]?.trim()).to.equal(PLACEHOLDER);
    const lines = await paste(blocksOf(INTEGRATE, "## REST"));
    const [accountId, minted, redeemed, account, ...others] = lines;
    expect(accountId).to.match(/^acc_[0-9a-z]{26}$/);
    expect(minted).to.include('"type":"mint"').and.include('"amount":1000.00').and.include('"status":"completed"');
    expect(redeemed).to.include('"type":"redeem"').and.include('"amount":250.00').and.include('"rail":"direct"');
    expect(account).to.include('"available_balance":750.00').and.include('"transactions":[');
    const stdout = others.join("\n");
    expect(stdout).to.match(/"rail":"sandbox"[^]*"rail":"sandbox"/);
    await completed(/^txn_[0-9a-z]{26}$/m.exec(stdout)?.[0] ?? "");
  });

  it("work as docs/integrate.md has them for gRPC", async () => {
    const [account = ""] = requestsOf("README.md");
    const blocks = blocksOf(INTEGRATE, "## gRPC").map((block) => block.replace(/\\\n */g, ""));
    expect(blocks.join("")).to.match(GRPCURL);
    const lines = await paste([account, ...blocks.map((block) => block.replace(GRPCURL, bufCurl))]);
    const stdout = lines.join("\n");
    expect(stdout).to.include("kesc.v1.TransactionService\n").and.include('"amount": "0.01"');
    expect(stdout).to.include('"reference": "deposit-3"');
  });

  it("work as docs/integrate.md has them for bulk payouts: sent, sent again, and what became of each", async () => {
    const blocks = [`cd ${place.folder}`, ...blocksOf(INTEGRATE, "## Bulk payouts")];
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

  it("work as docs/webhooks.md has them: an endpoint on this machine gets a test event, and what happens", async () => {
    const blocks = blocksOf("docs/webhooks.md");
    expect(blocks[0]?.trim()).to.equal(PLACEHOLDER);
    const [endpoint = ""] = await paste(blocks.slice(1));
    expect(endpoint).to.match(/"secret":"whsec_/);
    const types = () => receiver.received.map(({ json }) => json.type);
    await eventually(() => types().includes("webhook.test") && types().includes("account.created"), DONE);
  });

  it("work as docs/deposits.md has them: the instructions, the look for a payment, and the claim of it", async () => {
    const [accountId = ""] = await paste(blocksOf("README.md").slice(1, 2));
    const lines = await paste(blocksOf("docs/deposits.md"), { ACCOUNT_ID: accountId });
    const [instructions, byReceipt, unallocated, claimed, ...others] = lines.map((text) => JSON.parse(text) as object);
    expect(instructions).to.have.keys("instructions");
    for (const found of [byReceipt, unallocated]) expect(found).to.have.keys("deposits", "next_page_token");
    expect(claimed).to.include({ type: "mint", status: "completed", account_id: accountId });
    expect(others).to.deep.equal([]);
  });

  it("work as examples/mpesa has them: a push that the simulated payer confirms, and the list of what came in", async () => {
    const placeholder = blocksOf(MPESA).findIndex((block) => block.trim() === PLACEHOLDER);
    const [connect = "", , pay = "", compare = "", statement = ""] = blocksOf(MPESA).slice(placeholder - 1);
    const lines = await paste([`cd ${place.folder}`, connect, pay]);
    expect(lines.join("\n")).to.include('"status":"pending"');
    const paid = pay.split("\n").filter((line) => line.startsWith("api(") || line.includes("reference=mpesa-1"));
    await eventually(async () => (await paste(paid)).join("").includes('"status":"completed"'), DONE);
    const compared = await paste([`cd ${place.folder}`, connect.split("\n")[0] ?? "", compare]);
    expect(compared.join("\n")).to.include("is registered for kesc reconcile --pull");
    const [environment = ""] = connect.split("\n");
    const breaks = `${statement.replace(SIMULATOR, daraja.url).trimEnd()} || [ $? = 1 ]`;
    const broken = await paste([`cd ${place.folder}`, environment, breaks]);
    expect(broken.join("\n")).to.match(/missing in ledger: .* 500\.00 out[^]*missing in ledger: .* 70\.00 in/);
  });
});
