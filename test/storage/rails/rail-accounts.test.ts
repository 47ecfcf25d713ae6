import { expect } from "chai";
import pg from "pg";

import { asWritten, isWhole } from "../../../src/domain/api-key.js";
import type { Command } from "../../../src/domain/operations.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { DIRECT_RAIL, type Rail } from "../../../src/domain/transaction.js";
import type { OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { type Database, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { accountOfQuestion, endQuestion, noteBalance, noteQuestion } from "../../../src/storage/rails/balances.js";
import { saveRailAccount, setPayouts } from "../../../src/storage/rails/change-rail-accounts.js";
import {
  ChangedRailAccountError,
  openCredentials,
  railAccountsVersion,
  type StoredRailAccount,
  storedRailAccounts,
} from "../../../src/storage/rails/rail-accounts.js";
import { setDefaultRail } from "../../support/as-machine.js";
import { databaseOfEachTest, ENGINES, execute } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { setRailAccount } from "../../support/operations/rails.js";
import { advancePayment, beginPayment } from "../../support/operations/transactions.js";
import { PaymentsPlace, RAIL_ACCOUNT, railSetting } from "./given-payments.js";

const SECRET = '{"passkey":"bfb279f9aa9bdbcf158e97dd71a467cd"}';
const ID = "rail_one" as RailAccountId;
const OTHER_ID = "rail_two" as RailAccountId;
const SLOW = "slow" as Rail;

describe("a change of a rail account on PostgreSQL, while a payment begins", () => {
  let place: PaymentsPlace;
  let client: pg.Client;
  let other: Database;
  let id: TransactionId;
  beforeEach(async () => {
    place = await PaymentsPlace.make("postgres");
    // A server has one connection for commits, so there are two of them.
    other = await openDatabase(place.opened.address);
    client = new pg.Client(place.opened.url);
    await client.connect();
    id = await place.accept("redeem", "one");
    // Both wait for the book, and get its lock in the order in which they came.
    await client.query("BEGIN");
    await client.query("SELECT number FROM books FOR UPDATE");
  });
  afterEach(async () => {
    await client.end();
    await other.close();
    await place.opened.dispose();
  });

  const commit = async (command: Command, { cells: [cell] }: Pick<Database, "cells"> = other): Promise<string> => {
    const [result] = await cell.committer.commit([command], place.now);
    return result?.kind === "refused" ? result.refusal.reason : String(result?.kind);
  };
  /** Moves the account to another place. */
  const set = (): Promise<string> => {
    const facts = { accountsOfAll: "2:2", movesPlace: true };
    return commit(setRailAccount(place.organizationId, { railAccountId: RAIL_ACCOUNT, facts }));
  };
  const begin = (): Promise<string> => commit(beginPayment(place.organizationId, id, 1), place.opened.database);
  const waiting = (count: number): Promise<void> =>
    eventually(async () => {
      const sql = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      return (await execute(place.opened.address, sql)).length === count;
    });

  it("comes first: the payment does not begin under what was read before", async () => {
    const changed = set();
    await waiting(1);
    const begun = begin();
    await waiting(2);
    await client.query("COMMIT");
    expect([await changed, await begun]).to.deep.equal(["done", "RAIL_ACCOUNT_CHANGED"]);
  });

  it("comes second: it sees the payment that is under way", async () => {
    const begun = begin();
    await waiting(1);
    const changed = set();
    await waiting(2);
    await client.query("COMMIT");
    expect([await begun, await changed]).to.deep.equal(["done", "RAIL_PAYMENTS_UNDER_WAY"]);
  });

  for (const isTurnedAway of [true, false]) {
    it(`counts a payment that ${isTurnedAway ? "the rail turned away, and may have" : "did not reach the rail"}`, async () => {
      await client.query("COMMIT");
      await begin();
      const { opened, organizationId, now } = place;
      const postponed = advancePayment("postponePayment", organizationId, id, 1, isTurnedAway);
      await opened.cell.committer.commit([postponed], now);
      expect(await set()).to.equal(isTurnedAway ? "RAIL_PAYMENTS_UNDER_WAY" : "done");
    });
  }
});

for (const engine of ENGINES) {
  describe(`stored rail accounts (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let organizationId: OrganizationId;
    const now = toUnixMillis(1_000_000);
    beforeEach(async () => {
      const created = await keys(opened.database, () => now).createOrganization("rails", { isSandbox: true });
      organizationId = created.id;
    });

    type Given = Omit<Parameters<typeof railSetting>[1], "organizationId" | "now">;
    const save = (given: Given, at = now): Promise<void> =>
      saveRailAccount(opened.database, railSetting(opened, { organizationId, now: at, ...given }));
    const stored = async (id: RailAccountId = ID): Promise<StoredRailAccount | undefined> =>
      (await storedRailAccounts(opened.cell)).find((account) => account.id === id);
    const ofDefault = async (): Promise<readonly string[]> =>
      (await storedRailAccounts(opened.cell)).filter(({ isDefault }) => isDefault).map(({ id }) => id);

    it("are read as they were written, with new settings in place of the old ones", async () => {
      const first = { settings: '{"a":1}', credentials: SECRET, credentialsExpireAt: toUnixMillis(5), isDefault: true };
      await save({ id: ID, rail: "slow", ...first });
      const found = await stored();
      expect(found).to.deep.equal({
        id: ID,
        organizationId,
        isSandbox: true,
        isWhole: true,
        rail: "slow",
        settings: '{"a":1}',
        credentials: found?.credentials,
        credentialsExpireAt: 5,
        payouts: "auto",
        payoutsReason: "",
        isDefault: true,
        beginWithinMillis: 120_000,
        confirmAboveCents: 0,
        resolveAloneMaxCents: 0,
        floatMinCents: 0,
        revision: 1,
        warnings: { CREDENTIALS_EXPIRE: { expire_at: 5, days: 1 } },
        balance: undefined,
        depositsSince: undefined,
        depositsReadAt: undefined,
        createdAt: now,
        updatedAt: now,
      });

      const account = { organizationId, rail: SLOW };
      await setPayouts(opened.cell, account, { payouts: "closed", reason: "8006", now });
      await save({ id: ID, rail: "slow", settings: '{"a":2}', confirmAboveCents: 7 as never });
      const next = await stored();
      const kept = { payouts: "closed", payoutsReason: "8006", revision: 3 };
      const changed = { settings: '{"a":2}', confirmAboveCents: 7, isDefault: false, credentialsExpireAt: undefined };
      expect(next).to.deep.include({ ...kept, ...changed, credentials: undefined });
    });

    it("hold credentials that only their own account opens, with its own settings", async () => {
      await save({ id: ID, rail: "slow", credentials: SECRET, credentialsExpireAt: toUnixMillis(5) });
      const [book] = await opened.cell.directory.find([organizationId], ({ sql, bindings }) =>
        opened.cell.reader.rows(sql, bindings),
      );
      const account = await stored();
      if (book === undefined || account?.credentials === undefined) throw new Error("nothing was stored");
      const { credentials: sealed } = account;
      expect(openCredentials(book.keys, account, sealed)).to.equal(SECRET);
      for (const change of [
        { id: OTHER_ID },
        { organizationId: "org_stranger" as OrganizationId },
        { rail: "other" as Rail },
        { settings: '{"baseUrl":"https://evil.example"}' },
        { credentialsExpireAt: undefined },
        { beginWithinMillis: 120_001 },
        { confirmAboveCents: 1 as never },
        { resolveAloneMaxCents: 1 as never },
      ]) {
        const open = (): string => openCredentials(book.keys, { ...account, ...change }, sealed);
        expect(open, JSON.stringify(change)).to.throw(
          ChangedRailAccountError,
          /was changed in the database, past the service/,
        );
      }
      expect(Buffer.from(sealed.hex, "hex").toString("latin1")).not.to.contain("passkey");
    });

    it("are those of a live organization that somebody has made a sandbox in the database", async () => {
      const every = keys(opened.database, () => now);
      const { id } = await every.createOrganization("live");
      await saveRailAccount(
        opened.database,
        railSetting(opened, { organizationId: id, now, id: OTHER_ID, rail: "slow" }),
      );
      await execute(opened.address, "UPDATE organizations SET is_sandbox = 1");
      expect(await stored(OTHER_ID)).to.include({ isSandbox: false, isWhole: true });
      expect(await every.organization(id)).to.have.nested.property("changed.isSandbox", false);
      const all = (await every.organizations()).map((each) => [isWhole(each), asWritten(each).isSandbox]);
      expect(all).to.deep.equal([
        [true, true],
        [false, false],
      ]);
    });

    it("have one default account for each organization at most", async () => {
      await save({ id: ID, rail: "slow", isDefault: true });
      await save({ id: OTHER_ID, rail: "other", isDefault: true });
      expect(await ofDefault()).to.deep.equal([OTHER_ID]);
      expect(await setDefaultRail(opened.cell, { organizationId, rail: DIRECT_RAIL, now })).to.equal(true);
      expect(await setDefaultRail(opened.cell, { organizationId, rail: DIRECT_RAIL, now })).to.equal(false);
      expect(await ofDefault()).to.deep.equal([]);
    });

    it("are not written after a change that the caller has not seen", async () => {
      await save({ id: ID, rail: "slow" });
      const facts = { accountsOfAll: "0:0", movesPlace: false };
      const command = setRailAccount(organizationId, { railAccountId: OTHER_ID, rail: "other" as Rail, facts });
      const [result] = await opened.cell.committer.commit([command], now);
      expect(result).to.deep.equal({ kind: "refused", refusal: { reason: "RAIL_ACCOUNT_CHANGED" } });
      expect(await stored(OTHER_ID)).to.equal(undefined);
    });

    it("have one account for each rail of an organization", async () => {
      await save({ id: ID, rail: "slow" });
      const refused: unknown = await save({ id: OTHER_ID, rail: "slow" }).catch((error: unknown) => error);
      expect(refused).to.be.an("error");
      expect(await stored(OTHER_ID)).to.equal(undefined);
    });

    it("get a new version with each change, even if a clock is behind", async () => {
      const versions = new Set([await railAccountsVersion(opened.cell)]);
      const earlier = toUnixMillis(now - 50_000);
      const changes = [
        () => save({ id: ID, rail: "slow", isDefault: true }),
        () => save({ id: OTHER_ID, rail: "other" }, earlier),
        () => setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "open", reason: "", now: earlier }),
        () => save({ id: ID, rail: "slow", isDefault: true }, earlier),
        () => setDefaultRail(opened.cell, { organizationId, rail: DIRECT_RAIL, now: earlier }),
      ];
      for (const change of changes) {
        await change();
        versions.add(await railAccountsVersion(opened.cell));
      }
      expect(versions.size).to.equal(changes.length + 1);
    });

    it("keep the balance that answers the last question, which is no change of the account", async () => {
      await save({ id: ID, rail: "slow" });
      const version = await railAccountsVersion(opened.cell);
      const tell = (question: string, at: number): Promise<boolean> =>
        noteBalance(opened.cell, { id: ID, question }, { json: `{"at":${String(at)}}`, at: toUnixMillis(at) });
      for (const [question, at] of [
        ["first", 0],
        ["second", 120_001],
      ] as const) {
        expect(await noteQuestion(opened.cell, { id: ID, question, at: toUnixMillis(at) })).to.equal(question);
      }
      expect([await tell("first", 9), await tell("second", 10), await tell("second", 11)]).to.deep.equal([
        false,
        true,
        false,
      ]);
      expect(await accountOfQuestion(opened.cell, "second")).to.equal(undefined);
      expect((await stored())?.balance).to.deep.equal({ json: '{"at":10}', at: 10 });
      expect(await railAccountsVersion(opened.cell)).to.equal(version);
      await save({ id: ID, rail: "slow" });
      expect((await stored())?.balance?.at).to.equal(10);
    });

    it("ask once with new credentials while an answer may come, whatever the clock was", async () => {
      const ask = (question: string, at: number) =>
        noteQuestion(opened.cell, { id: ID, question, at: toUnixMillis(at) });
      await save({ id: ID, rail: "slow", credentials: SECRET });
      expect(await ask("first", 500_000)).to.equal("first");
      await setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "open", reason: "", now });
      expect([await ask("second", 500_001), await ask("third", 620_000)]).to.deep.equal(["first", "first"]);
      expect(await ask("fourth", 620_001)).to.equal("fourth");
      await save({ id: ID, rail: "slow", credentials: SECRET });
      expect(await ask("fifth", 620_002)).to.equal("fifth");
      expect(await endQuestion(opened.cell, { id: ID, question: "fifth" })).to.equal(true);
      expect(await ask("sixth", 620_003)).to.equal("sixth");
      expect(await ask("after a clock that was ahead", 1)).to.equal("after a clock that was ahead");
    });

    it("refuse in the schema what can't be true", async () => {
      await save({ id: ID, rail: "slow", isDefault: true });
      await save({ id: OTHER_ID, rail: "other" });
      for (const change of [
        "is_usual = 1",
        "rail = 'direct'",
        "rail = 'slow'",
        "payouts = 'maybe'",
        "begin_within_millis = 0",
        "confirm_above_cents = -1",
        "resolve_alone_max_cents = -1",
        "float_min_cents = -1",
        "warnings = ''",
        "balance = '{}'",
        "updated_at = created_at - 1",
        "revision = 0",
        "organization_id = 'org_unknown'",
      ]) {
        const sql = `UPDATE rail_accounts SET ${change} WHERE id = '${OTHER_ID}'`;
        const foreignKeys = engine === "sqlite" ? ["PRAGMA foreign_keys = ON"] : [];
        const answer = await execute(opened.address, ...foreignKeys, sql).then(() => "taken", String);
        expect(answer, change).to.match(/constraint/i);
      }
    });
  });
}
