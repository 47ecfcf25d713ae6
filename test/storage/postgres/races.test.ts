import { expect } from "chai";
import pg from "pg";

import type { Command } from "../../../src/domain/operations.js";
import { RESERVE_PLACES_MAX } from "../../../src/domain/reserve.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { AccountId } from "../../../src/domain/values/ids.js";
import { NO_REASON } from "../../../src/domain/values/text.js";
import { ENDPOINTS_MAX } from "../../../src/domain/webhook-endpoint.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import type { Cell, Database } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { byMachine, mustCommit } from "../../../src/storage/organizations/commit-now.js";
import { saveRailAccount } from "../../../src/storage/rails/change-rail-accounts.js";
import { execute, openDatabaseAt } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { createAccount, setLimits } from "../../support/operations/accounts.js";
import { recordReserve } from "../../support/operations/book.js";
import { correctBook } from "../../support/operations/corrections.js";
import { mint, redeem } from "../../support/operations/transactions.js";
import { createWebhookEndpoint } from "../../support/operations/webhooks.js";
import { changeSuspension } from "../../support/suspend.js";
import { OTHER_RAIL_ACCOUNT, PaymentsPlace, RAIL_ACCOUNT, railSetting } from "../rails/given-payments.js";

// PostgreSQL commits with READ COMMITTED: a row that was read before the book's lock may have
// changed when the lock comes. Each rule that counts or compares rows of an organization must read
// them after it. Here two servers both load while somebody else holds the lock.

const WAITING = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** What one server does. It resolves with what came of it. */
type Act = (server: Server) => Promise<unknown>;

interface Server {
  readonly database: Database;
  readonly cell: Cell;
}

describe("two servers on PostgreSQL, both of which wait for the book", () => {
  let place: PaymentsPlace;
  let servers: readonly [Server, Server];
  let holder: pg.Client;
  beforeEach(async () => {
    place = await PaymentsPlace.make("postgres");
    const second = await openDatabaseAt(place.opened.url);
    servers = [place.opened, { database: second, cell: second.cells[0] }];
    holder = new pg.Client(place.opened.url);
    await holder.connect();
  });
  afterEach(async () => {
    await holder.end();
    await servers[1].database.close();
    await place.opened.dispose();
  });

  /** Runs an act on each server. Both have loaded what they read before the lock of the book. */
  async function race(first: Act, second: Act = first): Promise<readonly unknown[]> {
    await holder.query("BEGIN");
    await holder.query("SELECT number FROM books FOR UPDATE");
    const outcomes: Promise<unknown>[] = [];
    for (const [index, act] of [first, second].entries()) {
      let isOver = false;
      const running = act(servers[index as 0 | 1])
        .catch((error: unknown) => (error as Error).name)
        .finally(() => {
          isOver = true;
        });
      outcomes.push(running);
      await eventually(async () => {
        const waiting = await execute(place.opened.address, WAITING);
        return waiting.length === index + 1 || isOver;
      });
    }
    await holder.query("COMMIT");
    return Promise.all(outcomes);
  }

  const submit =
    (command: Command): Act =>
    async ({ cell }) => {
      // A batch that lost a race for a unique index runs again, as in the ledger.
      for (;;) {
        try {
          const [result] = await cell.committer.commit([command], place.now);
          if (result?.kind === "done") return result.replayed ? "replayed" : "done";
          return result?.kind === "refused" ? result.refusal.reason : result;
        } catch (error) {
          if (!(error instanceof StoreError) || error.kind !== "conflict") throw error;
        }
      }
    };
  const money = (given: { accountId?: AccountId; reference: string; receipt?: string }) => {
    const { organizationId, accountId } = place;
    return { organizationId, accountId, amount: "600.00", ...given };
  };
  /** Adds another account: its commands wait for nothing but the book. */
  const otherAccount = async (): Promise<AccountId> => {
    const command = createAccount(place.organizationId, "other");
    await place.commit(command);
    return command.newAccountId;
  };

  for (const [name, firstOf, secondOf, outcomes] of [
    [
      "give a balance away once",
      () => redeem(money({ reference: "first" })),
      () => redeem(money({ reference: "second" })),
      ["done", "INSUFFICIENT_FUNDS"],
    ],
    [
      "take a reference once, from two accounts",
      () => mint(money({ reference: "one" })),
      (accountId) => mint(money({ accountId, reference: "one" })),
      ["done", "REFERENCE_ALREADY_USED"],
    ],
    [
      "take a receipt once, from two accounts",
      () => mint(money({ reference: "one", receipt: "NLJ7RT61SV" })),
      (accountId) => mint(money({ accountId, reference: "two", receipt: "NLJ7RT61SV" })),
      ["done", "RECEIPT_ALREADY_USED"],
    ],
    [
      "take a number once, first from a rail",
      () => mint(money({ reference: "one", receipt: "NLJ7RT61SV" })),
      (accountId) => mint(money({ accountId, reference: "two", receipt: "kcb:NLJ7RT61SV" })),
      ["done", "RECEIPT_ALREADY_USED"],
    ],
    [
      "take a number once, first from another source",
      () => mint(money({ reference: "one", receipt: "kcb:NLJ7RT61SV" })),
      (accountId) => mint(money({ accountId, reference: "two", receipt: "NLJ7RT61SV" })),
      ["done", "RECEIPT_ALREADY_USED"],
    ],
  ] as readonly (readonly [string, () => Command, (other: AccountId) => Command, string[]])[]) {
    it(name, async () => {
      const other = await otherAccount();
      expect(await race(submit(firstOf()), submit(secondOf(other)))).to.deep.equal(outcomes);
    });
  }

  it("open one account for a user", async () => {
    const create: Act = (server) => submit(createAccount(place.organizationId, "new"))(server);
    expect(await race(create)).to.have.members(["done", "replayed"]);
  });

  it("keep an organization's limit over two accounts", async () => {
    const accountId = await otherAccount();
    await place.commit(setLimits(place.organizationId, { changes: { DAY: toCents(100_000) } }));
    const outcomes = await race(
      submit(mint(money({ reference: "first" }))),
      submit(mint(money({ accountId, reference: "second" }))),
    );
    expect(outcomes).to.deep.equal(["done", "LIMIT_EXCEEDED"]);
  });

  it("do once what one proposal allows", async () => {
    const cover = (person: string): Command =>
      correctBook("bookReceipt", place.organizationId, {
        amountCents: 5_000,
        key: "receipt",
        target: "TJK1",
        person,
      });
    const proposed = await submit(cover("amina"))(servers[0]);
    const outcomes = await race(submit(cover("baraka")), submit(cover("chep")));
    expect([proposed, ...outcomes]).to.deep.equal(["done", "done", "replayed"]);
  });

  it("let one person do alone once what is left of the day", async () => {
    const { opened, organizationId, now } = place;
    for (const [rail, id] of [
      ["mpesa", RAIL_ACCOUNT],
      ["slower", OTHER_RAIL_ACCOUNT],
    ] as const) {
      const setting = railSetting(opened, { id, organizationId, rail, now, resolveAloneMaxCents: toCents(5_000) });
      await saveRailAccount(opened.database, setting);
    }
    const book = (key: string): Command =>
      correctBook("bookReceipt", organizationId, { amountCents: 5_000, key, target: key });
    for (let index = 1; index < 10; index += 1) await place.commit(book(`A${String(index)}`));
    expect(await race(submit(book("B1")), submit(book("B2")))).to.deep.equal(["done", "done"]);
    const sql = "SELECT kind, alone_cents FROM journal ORDER BY seq DESC LIMIT 2";
    const rows = await execute<{ readonly kind: string; readonly alone_cents: string | null }>(opened.address, sql);
    expect(rows.map(({ kind }) => kind)).to.have.members(["book.proposed", "book.received"]);
    expect(rows.map(({ alone_cents: cents }) => cents && Number(cents))).to.have.members([null, 50_000]);
  });

  const suspend: Act = ({ cell }) => {
    const { organizationId, now } = place;
    return changeSuspension(cell, { organizationId, isSuspended: true, reason: NO_REASON, now });
  };

  it("suspend an organization once, and no mint comes after it", async () => {
    expect(await race(suspend)).to.deep.equal([true, false]);
    expect(await submit(mint(money({ reference: "late" })))(servers[0])).to.equal("ORGANIZATION_SUSPENDED");
  });

  it("let no mint pass a suspension that came first", async () => {
    const late = submit(mint(money({ reference: "late" })));
    expect(await race(suspend, late)).to.deep.equal([true, "ORGANIZATION_SUSPENDED"]);
  });

  it("revoke a key once", async () => {
    const { organizationId, now } = place;
    const own = keys(place.opened.database, () => now);
    const { key } = await own.createApiKey({
      organizationId,
      name: "one",
      scopes: ["accounts:read"] as const,
      expiresAt: undefined,
    });
    const command = { name: "revokeApiKey", keyId: key.id, ...byMachine(organizationId) } as const;
    const revoke: Act = async ({ cell }) => !(await mustCommit(cell, command, now)).replayed;
    expect(await race(revoke)).to.deep.equal([true, false]);
  });

  it("make one key for the name of a certificate", async () => {
    const { organizationId, now } = place;
    const key = {
      organizationId,
      certificateName: "spiffe://one",
      scopes: ["accounts:read"] as const,
      expiresAt: undefined,
    };
    const make: Act = async ({ database }) => {
      const made = await keys(database, () => now).createCertificateKey(key);
      return made.key === undefined ? "held" : "made";
    };
    expect(await race(make)).to.deep.equal(["made", "held"]);
  });

  it("keep at most 50 places of the reserve", async () => {
    const record = (name: string): Act => submit(recordReserve(place.organizationId, name));
    for (let index = 1; index < RESERVE_PLACES_MAX; index += 1) await record(`bank ${String(index)}`)(servers[0]);
    expect(await race(record("one more"), record("and one more"))).to.deep.equal(["done", "TOO_MANY_RESERVE_PLACES"]);
  });

  it("keep at most 10 webhook endpoints", async () => {
    const create = (index: number): Act =>
      submit(createWebhookEndpoint(place.organizationId, { url: `https://localhost/${String(index)}` }));
    for (let index = 1; index < ENDPOINTS_MAX; index += 1) await create(index)(servers[0]);
    expect(await race(create(100), create(101))).to.deep.equal(["done", "TOO_MANY_WEBHOOK_ENDPOINTS"]);
  });
});
