import { expect } from "chai";
import pg from "pg";

import type { RailAccountId } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import {
  makeDirectDefault,
  noteBalance,
  saveRailAccount,
  setPayouts,
} from "../../../src/storage/rails/change-rail-accounts.js";
import {
  CredentialsError,
  openCredentials,
  railAccountsVersion,
  type StoredRailAccount,
  storedRailAccounts,
} from "../../../src/storage/rails/rail-accounts.js";
import { advancePayment, beginPayment } from "../../support/commands.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { PaymentsPlace, RAIL_ACCOUNT, railSetting } from "./given-payments.js";

const SECRET = '{"passkey":"bfb279f9aa9bdbcf158e97dd71a467cd"}';
const ID = "rail_one" as RailAccountId;
const OTHER_ID = "rail_two" as RailAccountId;
const SLOW = "slow" as Rail;

describe("a change of a rail account on PostgreSQL, while a payment begins", () => {
  let place: PaymentsPlace;
  let client: pg.Client;
  let id: TransactionId;
  beforeEach(async () => {
    place = await PaymentsPlace.make("postgres");
    client = new pg.Client(place.opened.url);
    await client.connect();
    id = await place.accept("redeem", "one");
    // Both wait for the book, and get its lock in the order in which they came.
    await client.query("BEGIN");
    await client.query("SELECT number FROM books FOR UPDATE");
  });
  afterEach(async () => {
    await client.end();
    await place.opened.dispose();
  });

  const set = (): Promise<number> => {
    const { opened, organizationId, now } = place;
    const setting = railSetting(opened, { id: RAIL_ACCOUNT, organizationId, rail: "slow", now });
    let underWay = NaN;
    return saveRailAccount(opened.database, setting, ({ paymentsUnderWay }) => {
      underWay = paymentsUnderWay;
    }).then(() => underWay);
  };
  const begin = async (): Promise<string> => {
    const { opened, organizationId, now } = place;
    const [result] = await opened.cell.committer.commit([beginPayment(organizationId, id, 1)], now);
    return result?.kind === "refused" ? result.refusal.reason : String(result?.kind);
  };
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
    expect([await changed, await begun]).to.deep.equal([0, "RAIL_ACCOUNT_CHANGED"]);
  });

  it("comes second: it sees the payment that is under way", async () => {
    const begun = begin();
    await waiting(1);
    const changed = set();
    await waiting(2);
    await client.query("COMMIT");
    expect([await begun, await changed]).to.deep.equal(["done", 1]);
  });

  for (const isTurnedAway of [true, false]) {
    it(`counts a payment that ${isTurnedAway ? "the rail turned away, and may have" : "did not reach the rail"}`, async () => {
      await client.query("COMMIT");
      await begin();
      const { opened, organizationId, now } = place;
      const postponed = advancePayment("postponePayment", organizationId, id, 1, isTurnedAway);
      await opened.cell.committer.commit([postponed], now);
      expect(await set()).to.equal(isTurnedAway ? 1 : 0);
    });
  }
});

for (const engine of ENGINES) {
  describe(`stored rail accounts (${engine})`, () => {
    let opened: TestDatabase;
    let organizationId: OrganizationId;
    const now = toUnixMillis(1_000_000);
    beforeEach(async () => {
      opened = await openTestDatabase(engine);
      const created = await keys(opened.database, () => now).createOrganization("rails", { isSandbox: true });
      organizationId = created.id;
    });
    afterEach(() => opened.dispose());

    type Given = Omit<Parameters<typeof railSetting>[1], "organizationId" | "now">;
    const save = (
      given: Given,
      check: Parameters<typeof saveRailAccount>[2] = () => undefined,
      at = now,
    ): Promise<void> =>
      saveRailAccount(opened.database, railSetting(opened, { organizationId, now: at, ...given }), check);
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
        rail: "slow",
        settings: '{"a":1}',
        sealedCredentials: found?.sealedCredentials,
        credentialsExpireAt: 5,
        payouts: "auto",
        payoutsReason: "",
        isDefault: true,
        beginWithinMillis: 120_000,
        confirmAboveCents: 0,
        resolveAloneMaxCents: 0,
        revision: 1,
        balance: undefined,
        updatedAt: now,
      });

      const account = { organizationId, rail: SLOW };
      await setPayouts(opened.cell, account, { payouts: "closed", reason: "8006", now });
      await save({ id: ID, rail: "slow", settings: '{"a":2}', confirmAboveCents: 7 as never });
      const next = await stored();
      const kept = { payouts: "closed", payoutsReason: "8006", revision: 3 };
      const changed = { settings: '{"a":2}', confirmAboveCents: 7, isDefault: false, credentialsExpireAt: undefined };
      expect(next).to.deep.include({ ...kept, ...changed, sealedCredentials: undefined });
    });

    it("hold credentials that only their own account opens, with its own settings", async () => {
      await save({ id: ID, rail: "slow", credentials: SECRET, credentialsExpireAt: toUnixMillis(5) });
      const [book] = await opened.cell.directory.find([organizationId], ({ sql, bindings }) =>
        opened.cell.reader.rows(sql, bindings),
      );
      const account = await stored();
      if (book === undefined || account?.sealedCredentials === undefined) throw new Error("nothing was stored");
      const { sealedCredentials } = account;
      expect(openCredentials(book.keys, account, sealedCredentials)).to.equal(SECRET);
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
        const open = (): string => openCredentials(book.keys, { ...account, ...change }, sealedCredentials);
        expect(open, JSON.stringify(change)).to.throw(CredentialsError, /do not belong together: somebody changed/);
      }
      expect(Buffer.from(sealedCredentials).toString("latin1")).not.to.contain("passkey");
    });

    it("have one default account for each organization at most", async () => {
      await save({ id: ID, rail: "slow", isDefault: true });
      await save({ id: OTHER_ID, rail: "other", isDefault: true });
      expect(await ofDefault()).to.deep.equal([OTHER_ID]);
      expect(await makeDirectDefault(opened.cell, { organizationId, now })).to.equal(true);
      expect(await makeDirectDefault(opened.cell, { organizationId, now })).to.equal(false);
      expect(await ofDefault()).to.deep.equal([]);
    });

    it("are not written if the check throws, which sees all of them", async () => {
      await save({ id: ID, rail: "slow" });
      const refusal = new Error("the shortcode is taken");
      const seen: string[] = [];
      const refused: unknown = await save({ id: OTHER_ID, rail: "other" }, ({ all }) => {
        seen.push(...all.map(({ id }) => id));
        throw refusal;
      }).catch((error: unknown) => error);
      expect(refused).to.equal(refusal);
      expect(seen).to.deep.equal([ID]);
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
        () => save({ id: OTHER_ID, rail: "other" }, undefined, earlier),
        () => setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "open", reason: "", now: earlier }),
        () => save({ id: ID, rail: "slow", isDefault: true }, undefined, earlier),
        () => makeDirectDefault(opened.cell, { organizationId, now: earlier }),
      ];
      for (const change of changes) {
        await change();
        versions.add(await railAccountsVersion(opened.cell));
      }
      expect(versions.size).to.equal(changes.length + 1);
    });

    it("tell whether there was an account whose payouts to set", async () => {
      const unknown = { organizationId, rail: "unknown" as Rail };
      const closed = { payouts: "closed", reason: "", now } as const;
      expect(await setPayouts(opened.cell, unknown, closed)).to.equal(false);
    });

    it("keep the newest balance, which is no change of the account", async () => {
      await save({ id: ID, rail: "slow" });
      const version = await railAccountsVersion(opened.cell);
      for (const at of [10, 9])
        await noteBalance(opened.cell, ID, { json: `{"at":${String(at)}}`, at: toUnixMillis(at) });
      expect((await stored())?.balance).to.deep.equal({ json: '{"at":10}', at: 10 });
      expect(await railAccountsVersion(opened.cell)).to.equal(version);
      await save({ id: ID, rail: "slow" });
      expect((await stored())?.balance?.at).to.equal(10);
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
