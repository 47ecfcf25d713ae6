import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { newAccount } from "../../support/service/each-engine.js";
import { type Ended, kesc, Place } from "../../support/service/kesc.js";
import { type Service, sharedService } from "../../support/service/service.js";

type Fields = Readonly<Record<string, unknown>>;

describe("kesc call, kesc account and kesc transaction over the API", () => {
  let place: Place;
  let service: Service;
  let accountId: string;
  before(async () => {
    place = new Place();
    service = await sharedService("sqlite");
    accountId = await newAccount(service, "5.00");
  });
  after(() => {
    place.remove();
  });

  const run = (args: readonly string[], { key = service.a.key, input = "" } = {}): Promise<Ended> =>
    kesc(args, { ...service.variables, KESC_API_KEY: key }, { input });

  it("makes a call and prints the response in the form of REST, and says that another is a replay", async () => {
    const mint = (reference: string): string => JSON.stringify({ account_id: accountId, amount: 10.1, reference });
    const key = ["--idempotency-key", "call-1"];
    const first = await run(["call", "kesc.v1.TransactionService/Mint", "-", ...key], { input: mint("call-1") });
    expect(first).to.include({ code: 0, stderr: "" });
    const { transaction } = JSON.parse(first.stdout) as { transaction: Fields };
    expect(transaction).to.include({ type: "mint", status: "completed", amount: "10.10", account_id: accountId });
    expect(transaction).to.have.property("failure", null);
    expect(first.stdout).to.include('\n    "amount": "10.10",\n');

    const again = await run(["call", "Mint", mint("call-1"), ...key, "--json"]);
    expect(again).to.include({ code: 0, stderr: "This is a replay: an earlier call had the effect.\n" });
    expect(again.stdout).to.equal(`${JSON.stringify({ transaction })}\n`);
  });

  it("prints each detail of a refusal", async () => {
    const redeem = { account_id: accountId, amount: "9000000.00", reference: "call-3" };
    const [tooMuch, badFields, noKey] = await Promise.all([
      run(["call", "Redeem", JSON.stringify(redeem)]),
      run(["call", "Redeem", JSON.stringify({ ...redeem, account_id: "", amount: "1.005" })]),
      run(["call", "Redeem"], { key: "" }),
    ]);
    expect(tooMuch).to.include({ code: 1, stdout: "" });
    expect(tooMuch.stderr).to.match(/^FAILED_PRECONDITION, INSUFFICIENT_FUNDS: .+\.\n/);
    expect(tooMuch.stderr).to.match(/\n {2}requested: 9000000\.00\n(.*\n)*Request id: \S+\n$/);
    expect(badFields.code).to.equal(1);
    expect(badFields.stderr).to.match(
      /^INVALID_ARGUMENT, INVALID_FIELD: .*\n(.*\n)* {2}account_id .*\n {2}amount must /,
    );
    expect(noKey.stderr).to.match(
      /^UNAUTHENTICATED, MISSING_API_KEY: .*\nSet KESC_API_KEY to an API key, or name a file/,
    );
  });

  it("says that no server listens, and that nobody knows the outcome", async () => {
    const { code, stderr } = await run(["call", "Mint", "--address", "127.0.0.1:1"]);
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^UNAVAILABLE: .* ECONNREFUSED 127\.0\.0\.1:1\.\nThe server at 127\.0\.0\.1:1 cannot be reached, .*\nA call that writes may have had/,
    );
  });

  it("sends a line of a file for each message of a stream", async () => {
    const file = join(place.folder, "requests.ndjson");
    const line = (reference: string, id: string): string =>
      JSON.stringify({ requests: [{ mint: { account_id: id, amount: "1.00", reference } }] });
    writeFileSync(file, `${line("stream-1", accountId)}\n${line("stream-2", "acc_x")}\n`);
    const [{ code, stdout, stderr }, listed] = await Promise.all([
      run(["call", "ImportTransactions", `@${file}`, "--json"]),
      run(["call"]),
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    const results = stdout
      .trim()
      .split("\n")
      .map((text) => (JSON.parse(text) as { results: Fields[] }).results[0]);
    expect(results[0]).to.deep.include({ error: null, replayed: false });
    expect(results[1]).to.have.property("transaction", null);
    expect(results[1]?.["error"]).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
    expect(listed.stdout.split("\n")).to.include("kesc.v1.TransactionService/Mint");
  });

  it("prints a line for each message of a stream without an end, until the deadline", async () => {
    const request = JSON.stringify({ after_sequence: 0, account_id: accountId });
    const { code, stdout, stderr } = await run(["call", "WatchEvents", request, "--deadline", "3s"]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^DEADLINE_EXCEEDED/);
    const messages = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { events: Fields[]; next_sequence: number });
    const [created, minted] = messages.flatMap(({ events }) => events);
    expect([created?.["type"], minted?.["type"]]).to.deep.equal(["account.created", "transaction.completed"]);
    expect(minted).to.have.property("sequence").that.is.a("number");
    expect(minted).to.have.property("available_balance", "5.00");
  });

  it("gets and lists resources, with the key of a file and the filters of REST", async () => {
    const keyFile = join(place.folder, "key");
    writeFileSync(keyFile, `${service.a.key}\n`);
    const withFile = ["--key-file", keyFile];
    const many = ["statuses=pending", "statuses=completed", "min_amount=0.01", "max_amount=9999"];
    const [account, transactions, table, wrong, none, twice] = await Promise.all([
      run(["account", "get", accountId, "--json", ...withFile], { key: "" }),
      run(["transaction", "list", `account_id=${accountId}`, "type=mint", "--limit", "1", "--json", ...withFile]),
      kesc(["account", "list", "statuses=active", "--limit", "2"], {
        ...service.variables,
        KESC_API_KEY_FILE: keyFile,
      }),
      run(["transaction", "list", "state=completed"]),
      run(["transaction", "list", `account_id=${accountId}`, ...many, "metadata[order_id]=none"]),
      run(["transaction", "list", "type=mint", "type=redeem", "metadata=17"]),
    ]);
    const found = JSON.parse(account.stdout) as Fields;
    expect(found).to.include({ id: accountId, status: "active", held_balance: "0.00", currency: "KESC" });
    const [transaction, ...others] = transactions.stdout.trim().split("\n");
    expect(others).to.deep.equal([]);
    expect(JSON.parse(transaction ?? "")).to.include({ account_id: accountId, type: "mint" });
    expect(transactions.stderr).to.equal("There may be more. To see them: --limit 10\n");
    const [headings, ...rows] = table.stdout.trim().split("\n");
    expect(headings).to.match(/^ID +STATUS +AVAILABLE_BALANCE +HELD_BALANCE +PHONE_NUMBER +USER_ID$/);
    expect(rows.length).to.be.within(1, 2);
    expect(rows[0]).to.match(/^acc_\S+ +active +\d+\.\d\d /);
    expect(wrong).to.include({ code: 2, stdout: "" });
    expect(wrong.stderr).to.match(
      /^"state=completed" is no filter\. .* The names: account_id, type, statuses, .* metadata\[…\], needs_attention, receipt\.$/m,
    );
    expect(none).to.include({ code: 0, stdout: "No transaction matches.\n" });
    expect(twice).to.include({ code: 2, stdout: "" });
    expect(twice.stderr).to.include("  type must be sent only once\n  metadata must be sent as metadata[key]=value");

    const { stdout } = await run(["transaction", "get", String((JSON.parse(transaction ?? "") as Fields)["id"])]);
    expect(stdout).to.match(/^ {2}id: txn_.*\n {2}account_id: acc_.*\n {2}type: mint\n/);
  });
});
