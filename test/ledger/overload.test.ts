import { expect } from "chai";

import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { Ledger, type LedgerOptions } from "../../src/ledger/ledger.js";
import type { Committer } from "../../src/ledger/ports/committer.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { keys } from "../../src/storage/keys.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";
import { newAccountId, NO_DEADLINE } from "../support/names.js";
import { mint } from "../support/operations/transactions.js";

// No account exists here: a mint that was decided is refused with ACCOUNT_NOT_FOUND, any other with
// QUEUE_FULL.
const DECIDED = "ACCOUNT_NOT_FOUND";

describe("the ledger under more than it can do", () => {
  let greedy: OrganizationId;
  let modest: OrganizationId;
  const accountId = newAccountId();
  let opened: TestDatabase;
  let committer: Committer;
  let open: () => void;
  let ended: Promise<void>;
  /** The references of each batch, in the order in which they were given to the committer. */
  let batches: string[][];

  before(async () => {
    opened = await openTestDatabase("sqlite");
    committer = opened.cell.committer;
    const own = keys(opened.database, () => toUnixMillis(Date.now()));
    greedy = (await own.createOrganization("greedy")).id;
    modest = (await own.createOrganization("modest")).id;
  });
  after(() => opened.dispose());
  beforeEach(() => {
    batches = [];
    ended = new Promise((resolve) => (open = resolve));
  });

  /** A ledger whose commits wait until `open()`. */
  function ledgerWith(options: Partial<LedgerOptions>): Ledger {
    const commit: Committer["commit"] = async (commands, at) => {
      batches.push(commands.map((command) => ("reference" in command ? command.reference : command.name)));
      await ended;
      return committer.commit(commands, at);
    };
    const now = (): UnixMillis => toUnixMillis(Date.now());
    const over = { batchesMax: 1, batchUsual: 64, commit };
    return new Ledger({
      committer: over,
      now,
      batchMax: 4,
      queueMax: 1_000,
      onStoreError: () => undefined,
      ...options,
    });
  }

  /**
   * Submits mints with the references prefix-0, prefix-1 and so on; resolves with the reasons of
   * their refusals.
   */
  function submit(
    ledger: Ledger,
    mints: { organizationId: OrganizationId; count: number; prefix: string; deadline?: UnixMillis },
  ): Promise<string>[] {
    const { organizationId, count, prefix, deadline = NO_DEADLINE } = mints;
    return Array.from({ length: count }, async (_, index) => {
      const reference = `${prefix}-${String(index)}`;
      const outcome = await ledger.submit(mint({ organizationId, accountId, amount: "1.00", reference }), deadline);
      return outcome.kind === "refused" ? outcome.refusal.reason : outcome.kind;
    });
  }

  /** Resolves when the ledger has begun the batches that it may. */
  async function turn(): Promise<void> {
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }

  it("lets organizations take turns in every batch, and keeps the order within each", async () => {
    const ledger = ledgerWith({});
    const calls = submit(ledger, { organizationId: greedy, count: 8, prefix: "g" });
    calls.push(...submit(ledger, { organizationId: modest, count: 2, prefix: "m" }));
    open();
    await Promise.all(calls);
    expect(batches).to.deep.equal([
      ["g-0", "m-0", "g-1", "m-1"],
      ["g-2", "g-3", "g-4", "g-5"],
      ["g-6", "g-7"],
    ]);
  });

  it("takes what a modest organization sends while a greedy one is refused", async () => {
    const ledger = ledgerWith({ queueMax: 10 });
    const many = submit(ledger, { organizationId: greedy, count: 20, prefix: "g" });
    const few = submit(ledger, { organizationId: modest, count: 2, prefix: "m" });
    open();
    expect((await Promise.all(many)).filter((reason) => reason === DECIDED)).to.have.length(5);
    expect(await Promise.all(few)).to.deep.equal([DECIDED, DECIDED]);
  });

  it("gives refusals more slowly than commits, the oldest first, and the others once nobody waits", async () => {
    const ledger = ledgerWith({ queueMax: 200, batchMax: 32 });
    // How many batches had begun when each refusal was heard.
    const heard: number[] = [];
    const calls = submit(ledger, { organizationId: greedy, count: 400, prefix: "g" }).map(async (call) => {
      if ((await call) === "QUEUE_FULL") heard.push(batches.length);
    });
    await turn();
    expect(heard).to.deep.equal([]);
    open();
    await Promise.all(calls);
    expect(batches.map(({ length }) => length)).to.deep.equal([32, 32, 32, 4]);
    const toldBy = (begun: number): number => heard.filter((count) => count <= begun).length;
    expect([1, 2, 3].map(toldBy)).to.deep.equal([0, 1, 2]);
    expect(heard).to.have.length(300);
  });

  it("refuses at once when too many wait to be told", async () => {
    const ledger = ledgerWith({ queueMax: 2 });
    const calls = submit(ledger, { organizationId: greedy, count: 50_002, prefix: "g" });
    expect(await calls[50_001]).to.equal("QUEUE_FULL");
    open();
    await Promise.all(calls);
  });

  it("gives all refusals at once when the database takes nothing", async () => {
    const down: Committer = {
      batchesMax: 1,
      batchUsual: 64,
      commit: async () => {
        await ended;
        throw new StoreError("unavailable", undefined);
      },
    };
    const ledger = ledgerWith({ committer: down, queueMax: 40, batchMax: 1 });
    const heard: string[] = [];
    const calls = submit(ledger, { organizationId: greedy, count: 100, prefix: "g" }).map(async (call) => {
      heard.push(await call);
    });
    open();
    await Promise.all(calls);
    expect(heard.slice(0, 82)).to.deep.equal([
      "STORAGE_UNAVAILABLE",
      ...Array<string>(80).fill("QUEUE_FULL"),
      "STORAGE_UNAVAILABLE",
    ]);
  });

  it("fills a batch with commands that can still be done, whatever has expired before them", async () => {
    const ledger = ledgerWith({});
    const deadline = toUnixMillis(Date.now() - 1);
    const late = submit(ledger, { organizationId: greedy, count: 9, prefix: "late", deadline });
    const live = submit(ledger, { organizationId: greedy, count: 3, prefix: "live" });
    open();
    expect(await Promise.all(late)).to.deep.equal(Array(9).fill("DEADLINE_EXCEEDED"));
    await Promise.all(live);
    expect(batches).to.deep.equal([["live-0", "live-1", "live-2"]]);
  });

  it("answers all whom it has not told yet before it is closed", async () => {
    const ledger = ledgerWith({ queueMax: 10 });
    const calls = submit(ledger, { organizationId: greedy, count: 20, prefix: "g" });
    const closed = ledger.close();
    open();
    await closed;
    expect((await Promise.all(calls)).filter((reason) => reason === "QUEUE_FULL")).to.have.length(15);
  });
});
