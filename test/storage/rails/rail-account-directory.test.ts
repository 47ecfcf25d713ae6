import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import { DIRECT_RAIL, type Rail } from "../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { MPESA_CAPABILITIES } from "../../../src/rails/mpesa/limits.js";
import { SandboxRail } from "../../../src/rails/sandbox/sandbox.js";
import { keys } from "../../../src/storage/keys.js";
import { saveRailAccount, setPayouts } from "../../../src/storage/rails/change-rail-accounts.js";
import { type OpenRailAccount, RailAccountDirectory } from "../../../src/storage/rails/rail-account-directory.js";
import { setDefaultRail } from "../../support/as-machine.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { watchRailAccount } from "../../support/operations/rails.js";
import { railSetting } from "./given-payments.js";

const ID = "rail_one" as RailAccountId;
const OTHER_ID = "rail_two" as RailAccountId;
const SLOW = "slow" as Rail;
const OTHER = "other" as Rail;
const DAY_MILLIS = 86_400_000;

for (const engine of ENGINES) {
  describe(`the directory of rail accounts (${engine})`, () => {
    let opened: TestDatabase;
    let organizationId: OrganizationId;
    let now: UnixMillis;
    let directory: RailAccountDirectory;
    /** What the directory did and told, in order. */
    let told: string[];
    let statements: string[];
    let isBroken: boolean;
    beforeEach(async () => {
      opened = await openTestDatabase(engine);
      now = toUnixMillis(1_000 * DAY_MILLIS);
      organizationId = (await keys(opened.database, () => now).createOrganization("rails")).id;
      told = [];
      statements = [];
      isBroken = false;
      const { reader } = opened.cell;
      const rows: typeof reader.rows = (sql, bindings) => {
        statements.push(sql);
        return isBroken ? Promise.reject(new Error("the database is away")) : reader.rows(sql, bindings);
      };
      directory = new RailAccountDirectory(
        { ...opened.cell, reader: { rows } },
        {
          now: () => now,
          railOf: ({ id, settings, credentials }: OpenRailAccount) => {
            if (settings === "broken") throw new Error("the settings are wrong");
            told.push(`made ${id} with ${credentials ?? "nothing"}`);
            return new SandboxRail({ capabilities: MPESA_CAPABILITIES, now: () => now });
          },
          onReadError: (error) => told.push(String(error)),
          onUnusable: ({ id }, error) => told.push(`unusable ${id}: ${String(error)}`),
          onExpiring: ({ id }, expireAt) => told.push(`expiring ${id} at ${String(expireAt)}`),
        },
      );
    });
    afterEach(async () => {
      await directory.stop();
      await opened.dispose();
    });

    const save = (given: Omit<Parameters<typeof railSetting>[1], "organizationId" | "now">): Promise<void> =>
      saveRailAccount(opened.database, railSetting(opened, { organizationId, now, ...given }));
    const taken = (): readonly string[] => told.splice(0);

    it("finds the accounts by id, by rail and as the default one", async () => {
      await save({ id: ID, rail: "slow", isDefault: true, credentials: "secret" });
      await save({ id: OTHER_ID, rail: "other" });
      await directory.start();
      expect(taken()).to.have.members([`made ${ID} with secret`, `made ${OTHER_ID} with nothing`]);
      const account = directory.account(ID);
      expect(account).to.deep.equal({
        id: ID,
        organizationId,
        rail: account?.rail,
        payouts: "auto",
        beginWithinMillis: 120_000,
        confirmAboveCents: 0,
        resolveAloneMaxCents: 0,
        revision: 1,
        changedAt: now,
        refused: undefined,
        isUntried: false,
      });
      expect(directory.accountOf(organizationId, undefined)).to.equal(account);
      expect(directory.accountOf(organizationId, SLOW)).to.equal(account);
      expect(directory.accountOf(organizationId, OTHER)?.id).to.equal(OTHER_ID);
      expect(directory.accountOf(organizationId, "none" as Rail)).to.equal(undefined);
      expect(directory.accountOf("org_stranger" as OrganizationId, undefined)).to.equal(undefined);
      expect(directory.account("rail_none" as RailAccountId)).to.equal(undefined);
    });

    it("sees at the next refresh that a credential is refused, that another was set, and that it works", async () => {
      await save({ id: ID, rail: "slow", credentials: "first" });
      await directory.start();
      const tell = async (given: Parameters<typeof watchRailAccount>[1]) => {
        const [result] = await opened.cell.committer.commit(
          [watchRailAccount(organizationId, { rail: SLOW, ...given })],
          now,
        );
        expect(result?.kind).to.equal("done");
      };
      const seen = async () => {
        await directory.refresh();
        const { refused, isUntried, revision } = directory.account(ID) ?? {};
        return [refused, isUntried, revision];
      };
      const refusedCredential = { credential: "initiator", code: "2001" } as const;
      await tell({ refusedCredential });
      expect(await seen()).to.deep.equal(["initiator", false, 1]);
      await save({ id: ID, rail: "slow", credentials: "second" });
      expect(await seen()).to.deep.equal(["initiator", true, 2]);
      await tell({ refusedCredential });
      expect(await seen()).to.deep.equal(["initiator", false, 2]);
      await tell({ isProven: true });
      expect(await seen()).to.deep.equal([undefined, false, 2]);
    });

    it("sees each change at the next refresh, and keeps a rail whose settings stay", async () => {
      await directory.start();
      expect(directory.accountOf(organizationId, undefined)).to.equal(undefined);
      await save({ id: ID, rail: "slow", isDefault: true, credentials: "first" });
      await directory.refresh();
      const rail = directory.account(ID)?.rail;

      await setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "closed", reason: "", now });
      await directory.refresh();
      expect(directory.account(ID)).to.include({ payouts: "closed", rail });
      expect(taken()).to.deep.equal([`made ${ID} with first`]);

      await save({ id: ID, rail: "slow", isDefault: true, credentials: "second" });
      await directory.refresh();
      expect(directory.account(ID)?.rail).not.to.equal(rail);
      expect(taken()).to.deep.equal([`made ${ID} with second`]);

      expect(directory.defaultRail(organizationId)).to.equal("slow");
      await setDefaultRail(opened.cell, { organizationId, rail: DIRECT_RAIL, now });
      await directory.refresh();
      expect(directory.defaultRail(organizationId)).to.equal("direct");
      expect(directory.accountOf(organizationId, undefined)).to.equal(undefined);
    });

    it("runs one small statement while nothing changes", async () => {
      await save({ id: ID, rail: "slow" });
      await directory.start();
      statements = [];
      await directory.refresh();
      expect(statements).to.have.lengthOf(1);
      expect(statements[0]).to.match(/COUNT\(\*\).*MAX\(updated_at\)/);
    });

    it("does not start without the accounts, and keeps them when it cannot read them later", async () => {
      await save({ id: ID, rail: "slow", isDefault: true });
      isBroken = true;
      const failure: unknown = await directory.start().catch((error: unknown) => error);
      expect(failure).to.be.an("error");
      isBroken = false;
      await directory.start();
      taken();
      isBroken = true;
      await directory.refresh();
      expect(directory.accountOf(organizationId, undefined)?.id).to.equal(ID);
      expect(taken()).to.have.lengthOf(1);
      isBroken = false;
      await setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "open", reason: "", now });
      await directory.refresh();
      expect(directory.account(ID)?.payouts).to.equal("open");
    });

    it("never passes an account that cannot be used for the direct rail", async () => {
      await save({ id: ID, rail: "slow", isDefault: true, settings: "broken" });
      await save({ id: OTHER_ID, rail: "other", credentials: "secret" });
      await execute(opened.address, `UPDATE rail_accounts SET credentials = NULL WHERE id = '${ID}'`);
      await directory.start();
      expect(taken()).to.have.members([
        `unusable ${ID}: Error: the settings are wrong`,
        `made ${OTHER_ID} with secret`,
      ]);
      expect(directory.account(ID)).to.equal(undefined);
      expect(() => directory.accountOf(organizationId, undefined)).to.throw(StoreError);
      expect(directory.accountOf(organizationId, SLOW)).to.equal(undefined);
      expect(directory.defaultRail(organizationId)).to.equal("slow");
      expect(directory.accountOf(organizationId, OTHER)?.id).to.equal(OTHER_ID);
    });

    it("does not use credentials that somebody swapped", async () => {
      await save({ id: ID, rail: "slow", credentials: "first" });
      await save({ id: OTHER_ID, rail: "other", credentials: "second" });
      await execute(
        opened.address,
        `UPDATE rail_accounts SET credentials = (SELECT credentials FROM rail_accounts WHERE id = '${ID}')
         WHERE id = '${OTHER_ID}'`,
      );
      await directory.start();
      expect(directory.account(ID)).not.to.equal(undefined);
      expect(directory.account(OTHER_ID)).to.equal(undefined);
      expect(taken().join()).to.contain(`unusable ${OTHER_ID}`);
    });

    for (const change of [`settings = '{"baseUrl":"https://evil.example"}'`, "confirm_above_cents = 900000000"]) {
      it(`uses an account no more after ${change} in the database, and says why`, async () => {
        await save({ id: ID, rail: "slow", credentials: "first", isDefault: true });
        await directory.start();
        expect(directory.account(ID)).not.to.equal(undefined);
        taken();
        await execute(opened.address, `UPDATE rail_accounts SET ${change}, updated_at = updated_at + 1`);
        await directory.refresh();
        expect(directory.account(ID)).to.equal(undefined);
        expect(() => directory.accountOf(organizationId, undefined)).to.throw(StoreError);
        expect(taken().join()).to.match(
          new RegExp(
            `unusable ${ID}: ChangedRailAccountError: The account ${ID} was changed in the database, past the service`,
          ),
        );
      });
    }

    for (const [name, change] of [
      ["another default rail", `UPDATE rail_accounts SET is_usual = 0`],
      ["open payouts", `UPDATE rail_accounts SET payouts = 'open'`],
      ["another organization", `UPDATE rail_accounts SET organization_id = 'STRANGER'`],
      ["an earlier state", `UPDATE rail_accounts SET revision = 1`],
      ["no account", "DELETE FROM rail_accounts"],
    ] as const) {
      it(`takes no call without a rail for a direct one after ${name} in the database`, async () => {
        await save({ id: ID, rail: "slow", isDefault: true });
        await setPayouts(opened.cell, { organizationId, rail: SLOW }, { payouts: "auto", reason: "as before", now });
        const stranger = (await keys(opened.database, () => now).createOrganization("stranger")).id;
        const sql = change.replace("STRANGER", stranger);
        await execute(opened.address, sql);
        await directory.start();
        expect(directory.account(ID)).to.equal(undefined);
        expect(() => directory.accountOf(organizationId, undefined)).to.throw(StoreError);
        expect(directory.defaultRail(organizationId)).to.equal("slow");
        expect(directory.accountOf(organizationId, SLOW)).to.equal(undefined);
        expect(taken().join()).to.match(/rail_one was changed in the database|rail_one is gone from the database/);
        if (sql.includes(stranger) || sql.startsWith("DELETE")) return;
        await save({ id: ID, rail: "slow", isDefault: true });
        await directory.refresh();
        expect(directory.account(ID)).to.include({ payouts: "closed" });
      });
    }

    it("does not let a warning make whole what somebody has changed", async () => {
      await save({ id: ID, rail: "slow", isDefault: true, floatMinCents: 100 as never });
      await execute(opened.address, "UPDATE rail_accounts SET is_usual = 0");
      const command = { name: "watchRailAccount", rail: SLOW, availableCents: 5 as never, organizationId } as const;
      const actor = "slow" as never;
      const [result] = await opened.cell.committer.commit([{ ...command, actor }], now);
      expect(result?.kind).to.equal("done");
      const [row] = await execute<{ is_usual: number; warnings: string }>(
        opened.address,
        "SELECT is_usual, warnings FROM rail_accounts",
      );
      expect(Number(row?.is_usual)).to.equal(0);
      expect(row?.warnings).to.contain("FLOAT_LOW");
      await directory.start();
      expect(directory.account(ID)).to.equal(undefined);
    });

    it("tells once a day of credentials that expire within 14 days", async () => {
      await save({ id: ID, rail: "slow", credentialsExpireAt: toUnixMillis(now + 15 * DAY_MILLIS) });
      await save({ id: OTHER_ID, rail: "other" });
      await directory.start();
      const warnings = (): readonly string[] => taken().filter((line) => line.startsWith("expiring"));
      expect(warnings()).to.deep.equal([]);
      const expected = [`expiring ${ID} at ${String(now + 15 * DAY_MILLIS)}`];
      for (const days of [1, 2, 20]) {
        now = toUnixMillis((1_000 + days) * DAY_MILLIS);
        await directory.refresh();
        await directory.refresh();
        expect(warnings(), String(days)).to.deep.equal(expected);
      }
    });
  });
}
