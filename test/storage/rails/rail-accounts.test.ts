import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import {
  makeDirectUsual,
  noteBalance,
  saveRailAccount,
  setPayouts,
} from "../../../src/storage/rails/change-rail-accounts.js";
import {
  openCredentials,
  railAccountsVersion,
  type StoredRailAccount,
  storedRailAccounts,
} from "../../../src/storage/rails/rail-accounts.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { railSetting } from "./given-payments.js";

const SECRET = '{"passkey":"bfb279f9aa9bdbcf158e97dd71a467cd"}';
const ID = "rail_one" as RailAccountId;
const OTHER_ID = "rail_two" as RailAccountId;
const SLOW = "slow" as Rail;

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
      check: (all: readonly StoredRailAccount[]) => void = () => undefined,
      at = now,
    ): Promise<void> =>
      saveRailAccount(opened.database, railSetting(opened, { organizationId, now: at, ...given }), check);
    const stored = async (id: RailAccountId = ID): Promise<StoredRailAccount | undefined> =>
      (await storedRailAccounts(opened.cell)).find((account) => account.id === id);
    const usual = async (): Promise<readonly string[]> =>
      (await storedRailAccounts(opened.cell)).filter(({ isUsual }) => isUsual).map(({ id }) => id);

    it("are read as they were written, with new settings in place of the old ones", async () => {
      const first = { settings: '{"a":1}', credentials: SECRET, credentialsExpireAt: toUnixMillis(5), isUsual: true };
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
        isUsual: true,
        beginWithinMillis: 120_000,
        confirmAboveCents: 0,
        resolveAloneMaxCents: 0,
        balance: undefined,
        updatedAt: now,
      });

      const account = { organizationId, rail: SLOW };
      await setPayouts(opened.cell, account, { payouts: "closed", reason: "8006", now });
      await save({ id: ID, rail: "slow", settings: '{"a":2}', confirmAboveCents: 7 as never });
      const next = await stored();
      const kept = { payouts: "closed", payoutsReason: "8006" };
      const changed = { settings: '{"a":2}', confirmAboveCents: 7, isUsual: false, credentialsExpireAt: undefined };
      expect(next).to.deep.include({ ...kept, ...changed, sealedCredentials: undefined });
    });

    it("hold credentials that only their own account opens", async () => {
      await save({ id: ID, rail: "slow", credentials: SECRET });
      const [book] = await opened.cell.directory.find([organizationId], ({ sql, bindings }) =>
        opened.cell.reader.rows(sql, bindings),
      );
      const account = await stored();
      if (book === undefined || account?.sealedCredentials === undefined) throw new Error("nothing was stored");
      const { sealedCredentials } = account;
      expect(openCredentials(book.keys, account, sealedCredentials)).to.equal(SECRET);
      expect(() => openCredentials(book.keys, { id: OTHER_ID, organizationId }, sealedCredentials)).to.throw();
      const stranger = "org_stranger" as OrganizationId;
      expect(() => openCredentials(book.keys, { id: ID, organizationId: stranger }, sealedCredentials)).to.throw();
      expect(Buffer.from(sealedCredentials).toString("latin1")).not.to.contain("passkey");
    });

    it("have one usual account for each organization at most", async () => {
      await save({ id: ID, rail: "slow", isUsual: true });
      await save({ id: OTHER_ID, rail: "other", isUsual: true });
      expect(await usual()).to.deep.equal([OTHER_ID]);
      expect(await makeDirectUsual(opened.cell, { organizationId, now })).to.equal(true);
      expect(await makeDirectUsual(opened.cell, { organizationId, now })).to.equal(false);
      expect(await usual()).to.deep.equal([]);
    });

    it("are not written if the check throws, which sees all of them", async () => {
      await save({ id: ID, rail: "slow" });
      const refusal = new Error("the shortcode is taken");
      const seen: string[] = [];
      const refused: unknown = await save({ id: OTHER_ID, rail: "other" }, (all) => {
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
      const earlier = toUnixMillis(now - 500_000);
      const changes = [
        () => save({ id: ID, rail: "slow", isUsual: true }),
        () => save({ id: OTHER_ID, rail: "other" }, undefined, earlier),
        () => setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "open", reason: "", now: earlier }),
        () => save({ id: ID, rail: "slow", isUsual: true }, undefined, earlier),
        () => makeDirectUsual(opened.cell, { organizationId, now: earlier }),
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
      await save({ id: ID, rail: "slow", isUsual: true });
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
