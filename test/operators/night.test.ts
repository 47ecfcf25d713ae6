import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import type { Rail } from "../../src/domain/transaction.js";
import type { AccountId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { depositReference } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { setRailAccount } from "../support/operations/rails.js";
import { beginPayment, mint, redeem } from "../support/operations/transactions.js";
import { type Ended, kesc } from "../support/service/kesc.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const HEADER = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.";
const HOUR_MILLIS = 3_600_000;

/** Now, in Nairobi. */
const nairobi = (): string => new Date(Date.now() + 3 * HOUR_MILLIS).toISOString().slice(0, 19).replace("T", " ");
const paidIn = (receipt: string, amount: string, account = ""): string =>
  `${receipt},${nairobi()},Pay Bill,Completed,${amount},,254712***678,${account}`;
const paidOut = (receipt: string, amount: string): string =>
  `${receipt},${nairobi()},Business Payment,Completed,,-${amount},254712***678,`;

describe("a lost night by kesc reconcile", () => {
  let service: OperatorService;
  let [fin, bob] = [] as unknown as readonly GivenOperator[] as [GivenOperator, GivenOperator];
  let organizationId: OrganizationId;
  let account: AccountId;
  let payouts: readonly TransactionId[] = [];
  const folder = mkdtempSync(join(tmpdir(), "kesc-night-"));
  const file = join(folder, "statement.csv");

  before(async () => {
    service = await startOperatorService("sqlite");
    fin = await service.operator("Fin", "finance");
    bob = await service.operator("Bob", "approver");
    ({ organizationId } = service.tenant);
    const made = createAccount(organizationId, "amina", { depositReferences: [depositReference(5)] });
    account = made.newAccountId;
    const of = { organizationId, accountId: account };
    const terms = { railAccountId: "rail_night" as never };
    const sent = ["10.00", "20.00", "20.00"].map((amount, index) =>
      redeem({ ...of, amount, reference: `out ${String(index)}`, rail: "mpesa" as Rail, terms }),
    );
    payouts = sent.map(({ newTransactionId }) => newTransactionId);
    await commit(
      made,
      mint({ ...of, amount: "1000.00", reference: "funds" }),
      ...sent.flatMap((each) => [each, beginPayment(organizationId, each.newTransactionId)]),
      setRailAccount(organizationId, { railAccountId: "rail_night" as never, resolveAloneMaxCents: 10_000 as never }),
    );
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await service.dispose();
  });

  async function commit(...commands: Parameters<OperatorService["opened"]["cell"]["committer"]["commit"]>[0]) {
    const results = await service.opened.cell.committer.commit(commands, toUnixMillis(Date.now()));
    for (const result of results) expect(result.kind, JSON.stringify(result)).to.equal("done");
  }

  function reconcile(rows: readonly string[], variables: Record<string, string>, ...args: string[]): Promise<Ended> {
    writeFileSync(file, [HEADER, ...rows].join("\n"));
    return kesc(["reconcile", "mpesa", file, "--org", organizationId, ...args], variables);
  }

  const at = (rows: readonly string[], ...args: string[]): Promise<Ended> =>
    reconcile(
      rows,
      {
        DATABASE_URL: "sqlite:/nowhere/kesc.db",
        KESC_OPERATOR_SERVER: service.servers[0].operatorAddress ?? "",
        KESC_OPERATOR_KEY: fin.key,
      },
      ...args,
    );
  const here = (rows: readonly string[], ...args: string[]): Promise<Ended> =>
    reconcile(rows, { DATABASE_URL: service.opened.url, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE }, ...args);
  const onDatabase = (rows: readonly string[], ...args: string[]): Promise<Ended> =>
    here(rows, "--on-database", "--note", "no news since 23:00", ...args);

  const NIGHT = [
    paidIn("RKTQDM7N01", "60.00", depositReference(5)),
    paidIn("RKTQDM7N02", "40.00", "Wanjiku"),
    paidIn("RKTQDM7N03", "1.00"),
    `RKTQDM7N04,${nairobi()},Odd words,Completed,7.00,,SOMEBODY,`,
  ];

  it("previews each row, at a server and on the database alike, and does nothing", async () => {
    const there = await at(NIGHT, "--record");
    expect(there.code).to.equal(2);
    expect(there.stderr).to.equal("Nothing was done. To do it, add --note TEXT --yes.\n");
    expect(there.stdout).to.equal(
      [
        `  RKTQDM7N01            60.00  ${account}`,
        "  RKTQDM7N02            40.00  waits: unknown reference",
        "  RKTQDM7N03             1.00  waits: no reference",
        "This would record 3 of together 101.00 KES: 1 of together 60.00 KES for accounts. The book had 0 of together 0.00 KES.",
        "It needs a second person, by the sum.",
        "1 rows are in no act. A person decides about each:",
        "  RKTQDM7N04             7.00  unknown kind",
        "",
      ].join("\n"),
    );
    const same = await onDatabase(NIGHT, "--record");
    expect(same).to.deep.equal(there);
    const json = await onDatabase(NIGHT, "--record", "--json");
    expect(JSON.parse(json.stdout)).to.deep.nested.include({
      preview: true,
      "record.recorded": { count: 3, amount: "101.00" },
      doubtful: [{ receipt: "RKTQDM7N04", amount: "7.00", doubt: "unknown_kind" }],
    });
  });

  it("records all of it by one act and one approval, and what came meanwhile once", async () => {
    const proposed = await at(NIGHT, "--record", "--note", "no news since 23:00", "--yes");
    expect(proposed.code, proposed.stderr).to.equal(0);
    const [id = ""] = /prp_\w+/.exec(proposed.stdout) ?? [];
    // The rail tells one of them before the approval.
    await commit(receiveDeposit(organizationId, { receipt: "RKTQDM7N03", amountCents: 100 as never }));
    const [admin] = service.admin;
    const approval = await admin.call(Rpcs.approveProposal, { proposal_id: id, note: "" }, { key: bob.key });
    expect(approval.code, approval.message).to.equal(0);
    const again = await at(NIGHT, "--record", "--note", "again", "--yes");
    expect([again.code, again.stdout.split("\n")[0]]).to.deep.equal([0, "The book has every pay-in of a customer."]);
    const listed = await kesc(["deposit", "list", "--org", organizationId, "--json"], {
      DATABASE_URL: service.opened.url,
      KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE,
    });
    const deposits = JSON.parse(listed.stdout) as readonly { rail_receipt: string; status: string }[];
    expect(deposits.map(({ rail_receipt, status }) => `${rail_receipt} ${status}`)).to.have.members([
      "RKTQDM7N01 credited",
      "RKTQDM7N02 unallocated",
      "RKTQDM7N03 unallocated",
    ]);
  });

  it("completes each payout whose row is its own, and leaves rows that fit two", async () => {
    const rows = [paidOut("RKTQDM7P01", "10.00"), paidOut("RKTQDM7P02", "20.00"), paidOut("RKTQDM7P03", "20.00")];
    const preview = await at(rows, "--resolve");
    const [first = "", would, ...others] = preview.stdout.split("\n");
    expect(first).to.match(new RegExp(`^ {2}${String(payouts[0])} +10\\.00 {2}RKTQDM7P01 of .*Z to 254\\*{6}678$`));
    expect(would).to.equal("This would complete 1 of together 10.00 KES.");
    expect(others).to.deep.equal([
      "2 rows are in no act. A person decides about each:",
      "  RKTQDM7P02           -20.00  fits several",
      "  RKTQDM7P03           -20.00  fits several",
      "",
    ]);
    const done = await at(rows, "--resolve", "--note", "no news", "--yes");
    expect([done.code, done.stdout.split("\n")[1]]).to.deep.equal([0, "Completed 1 of together 10.00 KES."]);
    const again = await at(rows, "--resolve", "--note", "no news", "--yes");
    expect(again.stdout).to.match(/^No open order has a row of its own\.\n2 rows are in no act/);
  });

  it("records a night within the amount of one person alone", async () => {
    const done = await at([paidIn("RKTQDM7N05", "5.00")], "--record", "--note", "no news", "--yes", "--json");
    expect(JSON.parse(done.stdout)).to.deep.nested.include({
      preview: false,
      "record.proposal": null,
      "record.recorded": { count: 1, amount: "5.00" },
    });
  });

  for (const [args, problem] of [
    [["--record", "--apply"], "Give --apply first, and then --record, --resolve or --balance."],
    [["--record", "--yes"], "--yes needs --note TEXT: the words for the book."],
    [["--yes"], "--note, --yes and --on-database are for --record, --resolve and --balance only."],
  ] as const) {
    it(`refuses ${args.join(" ")}`, async () => {
      const refused = await here(NIGHT, ...args);
      expect([refused.code, refused.stderr]).to.deep.equal([2, `${problem}\n`]);
    });
  }

  it("refuses --resolve for a list of what came in, and a list at a server", async () => {
    const pulled = ["reconcile", "mpesa", "--pull", "--org", organizationId];
    const database = { DATABASE_URL: service.opened.url, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE };
    const resolve = await kesc([...pulled, "--resolve"], database);
    expect(resolve.stderr).to.equal("--resolve is for a file: the list has no payouts.\n");
    const record = await kesc([...pulled, "--record"], { ...database, KESC_OPERATOR_SERVER: "localhost:1" });
    expect(record.stderr).to.match(/^A server reads the rail's list by itself\./);
  });
});
