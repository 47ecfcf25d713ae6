import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "../../operators/given.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { RailOrders } from "../../support/rails/rail-orders.js";
import { type Ended, kesc, kescJson, type Variables } from "../../support/service/kesc.js";

// `dispose` verifies the books.

describe("kesc transaction resolve, clear-flag and the corrections of kesc book", () => {
  let service: OperatorService;
  let brian: GivenOperator;
  let database: Variables;
  let organizationId: OrganizationId;
  let railAccountId: RailAccountId;

  before(async () => {
    service = await startOperatorService("sqlite");
    database = { DATABASE_URL: service.opened.url, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE };
    ({ id: organizationId } = await kescJson<{ id: OrganizationId }>(
      ["org", "create", "--name", "Tests", "--sandbox"],
      database,
    ));
    ({ id: railAccountId } = await kescJson<{ id: RailAccountId }>(
      ["rail", "set", "sandbox", "--org", "Tests", "--resolve-alone-max", "100.00", "--note", "first"],
      database,
    ));
    brian = await service.operator("Brian", "finance", "approver");
  });
  after(() => service.dispose());

  /** Runs a command on the database, which no person does. */
  const run = (...args: readonly string[]): Promise<Ended> =>
    kesc([...args, "--org", "Tests", "--note", "case 17", "--on-database"], database);

  /** Runs a command as the operator, who has no database. */
  const asBrian = (...args: readonly string[]): Promise<Ended> =>
    kesc(args, { KESC_OPERATOR_SERVER: service.servers[0].operatorAddress ?? "", KESC_OPERATOR_KEY: brian.key });

  const resolve = (id: TransactionId, ...args: readonly string[]): Promise<Ended> =>
    run("transaction", "resolve", id, "--outcome", ...args, "--yes");

  async function order(given: Parameters<RailOrders["order"]>[1]): Promise<TransactionId> {
    const rail = { rail: "sandbox", railAccountId };
    return RailOrders.in(service.opened.url, organizationId, async (orders) =>
      orders.order(await newAccount(orders), { ...rail, ...given }),
    );
  }

  let users = 0;
  async function newAccount(orders: RailOrders): Promise<AccountId> {
    users += 1;
    return orders.account(`user ${String(users)}`);
  }

  /** Returns the id of the proposal that a command printed. */
  function proposedBy({ code, stdout, stderr }: Ended): string {
    expect(code, stderr).to.equal(0);
    const [, id = ""] = /^Proposed as (prp_\w+)\. Nothing .*\nThat person runs.*: kesc proposal approve \1\n$/.exec(
      stdout,
    ) ?? [""];
    expect(id, stdout).not.to.equal("");
    return id;
  }

  it("say what resolve would do, without --yes", async () => {
    const id = await order({ flagged: true });
    const command = ["transaction", "resolve", id, "--outcome", "completed", "--receipt", "sandbox:RKTQDM7W01"];
    const intent = await run(...command);
    expect(intent).to.include({ code: 2, stdout: "" });
    expect(intent.stderr).to.equal(
      `${id}: this would end it as COMPLETED, with the receipt. Nothing was done. To do it, add --yes.\n`,
    );
  });

  it("resolve alone up to the limit of the account at the rail, and once", async () => {
    const id = await order({ flagged: true });
    const completed = ["completed", "--receipt", "sandbox:RKTQDM7W02"];
    expect((await resolve(id, ...completed)).stdout).to.equal(`${id} is completed, 100.00 KESC.\n`);
    expect((await resolve(id, ...completed)).stdout).to.equal(
      `${id} is completed, 100.00 KESC. It was resolved before.\n`,
    );
    const other = await resolve(id, "failed");
    expect(other).to.include({ code: 1, stdout: "" });
    expect(other.stderr).to.contain("is already completed, in another way.");
  });

  it("resolve above it as a proposal, which an operator approves at a server", async () => {
    const id = await order({ amount: "100.01", flagged: true });
    const completed = ["completed", "--receipt", "sandbox:RKTQDM7W03"];
    const proposal = proposedBy(await resolve(id, ...completed));
    expect(proposedBy(await resolve(id, ...completed)), "the machine is one person").to.equal(proposal);
    const approval = await asBrian("proposal", "approve", proposal);
    expect(approval.stdout, approval.stderr).to.match(/^Done, as operator proposed: /);
    expect((await resolve(id, ...completed)).stdout).to.contain("It was resolved before.");
    const rows = `SELECT detail FROM journal WHERE transaction_id = '${id}' AND kind = 'transaction.completed'`;
    expect(await service.opened.cell.reader.rows(rows)).to.deep.equal([
      { detail: JSON.stringify(["", "operator", brian.operator.id]) },
    ]);
  });

  it("book what really moved, and release what did not", async () => {
    const moved = await order({ flagged: true });
    const { stdout } = await resolve(moved, "moved", "--amount", "90.00", "--receipt", "sandbox:RKTQDM7W04");
    expect(stdout).to.match(
      new RegExp(
        `^${moved} is failed, 100\\.00 KESC\\.\\ntxn_\\w+ is completed, 90\\.00 KESC\\. It corrects ${moved}\\.\\n$`,
      ),
    );
    const failed = await order({ flagged: true });
    expect((await resolve(failed, "failed")).stdout).to.equal(`${failed} is failed, 100.00 KESC.\n`);
  });

  it("resolve nothing while the rail is asked, and not before", async () => {
    const asked = await order({});
    // The servers carry out what waits for a rail that they have.
    const pending = await RailOrders.in(service.opened.url, organizationId, async (orders) =>
      orders.order(await newAccount(orders), { pending: true }),
    );
    expect((await resolve(asked, "failed")).stderr).to.contain("the rail was asked less than a minute ago");
    expect((await resolve(pending, "failed")).stderr).to.contain("the rail was not asked yet. Cancel");
  });

  for (const [outcome, words] of [
    [["completed"], "--outcome completed needs --receipt."],
    [["completed", "--receipt", "RKTQDM7W00", "--amount", "1.00"], "--outcome completed has no --amount."],
    [["failed", "--receipt", "RKTQDM7W00"], "--outcome failed has no --receipt."],
    [["moved", "--receipt", "RKTQDM7W00"], "--outcome moved needs --amount."],
    [["moved", "--amount", "1.00"], "--outcome moved needs --receipt."],
  ] as const) {
    it(`refuse options that do not fit the outcome: ${outcome.join(" ")}`, async () => {
      const ended = await resolve("txn_01jd2r6p5vf8ksw3xhb1z7q4ye" as TransactionId, ...outcome);
      expect(ended).to.deep.equal({ code: 2, stdout: "", stderr: `${words}\n` });
    });
  }

  it("clear one flag, once", async () => {
    const id = await RailOrders.in(service.opened.url, organizationId, async (orders) => {
      const proof = { receipt: "RKTQDM7W05" };
      const made = await orders.order(await newAccount(orders), { rail: "sandbox", railAccountId, proof });
      await orders.flag(made, "FAILED_AFTER_COMPLETION");
      return made;
    });
    const clear = ["transaction", "clear-flag", id, "--flag", "FAILED_AFTER_COMPLETION"];
    expect((await run(...clear)).stdout).to.equal(`Cleared failed_after_completion of ${id}.\n`);
    expect((await run(...clear)).stdout).to.equal(`The flag failed_after_completion of ${id} is not up.\n`);
    const unknown = await run("transaction", "clear-flag", id, "--flag", "lost");
    expect(unknown).to.include({ code: 2, stdout: "" });
    expect(unknown.stderr).to.contain("flag must be one of");
  });

  it("correct the book, each once for a key", async () => {
    const { id } = await kescJson<{ id: OrganizationId }>(
      ["org", "create", "--name", "Books", "--sandbox", "--on-database", "--note", "x"],
      database,
    );
    const noted = ["--org", "Books", "--note", "n"];
    await kesc(["rail", "set", "sandbox", "--resolve-alone-max", "100.00", ...noted, "--on-database"], database);
    const account = await RailOrders.in(service.opened.url, id, (orders) => orders.account("amina"));
    const command = (args: readonly string[]): readonly string[] => [
      "book",
      ...args,
      "--key",
      args.join(" ").slice(0, 50).replaceAll(" ", "-"),
      ...noted,
    ];
    const book = (...args: readonly string[]): Promise<Ended> =>
      kesc([...command(args), "--on-database", "--yes"], database);

    for (const [args, sums] of [
      [
        ["paid", "--amount", "30", "--receipt", "RKTQDM7R01"],
        "reserve -30.00, shortfall 30.00, available 0.00, unallocated 0.00",
      ],
      [["cover", "--amount", "20"], "reserve -10.00, shortfall 10.00, available 0.00, unallocated 0.00"],
      [
        ["receive", "--amount", "70", "--receipt", "RKTQDM7R02"],
        "reserve 60.00, shortfall 10.00, available 0.00, unallocated 70.00",
      ],
      [
        ["allocate", "--amount", "50", "--account", account],
        "reserve 60.00, shortfall 10.00, available 50.00, unallocated 20.00",
      ],
      [
        ["return", "--amount", "20", "--receipt", "RKTQDM7R03"],
        "reserve 40.00, shortfall 10.00, available 50.00, unallocated 0.00",
      ],
      [
        ["recover", "--amount", "10", "--account", account],
        "reserve 40.00, shortfall 0.00, available 40.00, unallocated 0.00",
      ],
      [
        ["adjust", "--movement", "RKTQDM7R02", "--direction", "in", "--amount", "5", "--account", account],
        "reserve 45.00, shortfall 0.00, available 45.00, unallocated 0.00",
      ],
      [
        ["transfer", "--direction", "out", "--amount", "9", "--receipt", "RKTQDM7R04"],
        "reserve 45.00, shortfall 0.00, available 45.00, unallocated 0.00",
      ],
    ] as const) {
      const intent = await asBrian(...command(args));
      expect(intent, args.join(" ")).to.include({ code: 2, stdout: "" });
      expect(intent.stderr).to.match(/^This would book \d+\.00 KES: .*\. Nothing was done\. To do it, add --yes\.\n$/);
      const words = `The book: ${sums.replace(", avail", ", charges 0.00, avail").replace(", unalloc", ", held 0.00, unalloc")}.\n`;
      expect((await book(...args)).stdout, args.join(" ")).to.equal(`Done. ${words}`);
      expect((await book(...args)).stdout, args.join(" ")).to.equal(`Done before. ${words}`);
    }
    const tooMuch = await book("allocate", "--amount", "1", "--account", account);
    expect(tooMuch).to.include({ code: 1, stdout: "" });
    expect(tooMuch.stderr).to.contain("The book account unallocated has 0.00, but 1.00 was requested.");
    const wrong = await book("transfer", "--direction", "up", "--amount", "9", "--receipt", "RKTQDM7R05");
    expect(wrong).to.include({ code: 2, stdout: "" });
    expect(wrong.stderr).to.contain("It must be one of in, out.");
  });

  for (const args of [
    ["book", "receive", "--amount", "100.01", "--receipt", "RKTQDM7R06", "--key", "too-much-1"],
    ["book", "paid", "--amount", "100.01", "--receipt", "RKTQDM7R07", "--key", "too-much-2"],
  ]) {
    it(`propose a correction above the lowest limit of the accounts at rails: ${args.join(" ")}`, async () => {
      const proposal = proposedBy(await run(...args, "--yes"));
      const approval = await asBrian("proposal", "approve", proposal);
      expect(approval.code, approval.stderr).to.equal(0);
      expect((await run(...args, "--yes")).stdout).to.match(/^Done before\. The book: /);
    });
  }

  it("send the key to a server, so that a repeat changes nothing there", async () => {
    const paid = ["book", "paid", "--amount", "1.00", "--receipt", "RKTQDM7R08", "--key", "at-a-server"];
    const atServer = (): Promise<Ended> => asBrian(...paid, "--org", "Tests", "--note", "case 18", "--yes");
    const done = await atServer();
    expect(done.stdout, done.stderr).to.match(/^Done\. The book: /);
    expect((await atServer()).stdout).to.match(/^Done before\. The book: /);
  });

  it("book receive, allocate and return on the database only if somebody means it", async () => {
    const receive = ["book", "receive", "--amount", "1.00", "--receipt", "RKTQDM7R09", "--key", "k", "--org", "Tests"];
    const refused = await kesc([...receive, "--note", "case 17", "--yes"], database);
    expect(refused).to.include({ code: 2, stdout: "" });
    expect(refused.stderr).to.match(/^This database has operators\. .* kesc deposit record\.\n.* add --on-database\. /);
  });
});
