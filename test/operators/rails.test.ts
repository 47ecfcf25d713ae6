import { expect } from "chai";

import type { RailAccountId } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs, type RailAccountStatus } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { PayoutMode } from "../../src/gen/kesc/admin/v1/resources.js";
import { keys } from "../../src/storage/keys.js";
import { saveRailAccount, setPayouts } from "../../src/storage/rails/change-rail-accounts.js";
import { payments } from "../../src/storage/rails/payments.js";
import { storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { NO_DEADLINE } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { beginPayment, mint, redeem } from "../support/operations/transactions.js";
import { tellBalance } from "../support/service/with-rails.js";
import {
  type GivenOperator,
  MPESA_CREDENTIALS,
  MPESA_SETTINGS,
  type OperatorService,
  SECRET,
  startOperatorService,
} from "./given.js";

const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";
const MPESA_ID = "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId;
const SANDBOX_ID = "rail_01jd2r6p5vf8ksw3xhb1z7q4yf" as RailAccountId;
const MINUTE_MILLIS = 60_000;
const now = () => toUnixMillis(Date.now());

for (const engine of ENGINES) {
  describe(`what operators read of an account at a rail (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let vera: GivenOperator;
    let organizationId: OrganizationId;

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      vera = await service.operator("Vera", "viewer");
      ({ organizationId } = service.tenant);
      await save(organizationId, {
        id: MPESA_ID,
        rail: "mpesa" as Rail,
        settings: JSON.stringify(MPESA_SETTINGS),
        credentials: JSON.stringify(MPESA_CREDENTIALS),
        credentialsExpireAt: toUnixMillis(now() + 24 * 60 * MINUTE_MILLIS),
        isDefault: true,
      });
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    function save(
      owner: OrganizationId,
      own: Pick<
        Parameters<typeof saveRailAccount>[1]["setting"],
        "id" | "rail" | "settings" | "credentials" | "credentialsExpireAt" | "isDefault"
      >,
    ): Promise<void> {
      const { database, cell } = service.opened;
      const limits = {
        beginWithinMillis: 120_000,
        confirmAboveCents: toCents(10_050),
        resolveAloneMaxCents: 0,
        floatMinCents: 0,
      } as const;
      const setting = { ...own, ...limits, organizationId: owner };
      return saveRailAccount(database, { setting, cell, now: now() });
    }

    const ask = (organization_id: string, rail = "mpesa") =>
      admin.call(Rpcs.getRailAccount, { organization_id, rail }, vera);
    const statusOf = async (organization_id: string, rail = "mpesa"): Promise<Partial<RailAccountStatus>> =>
      (await ask(organization_id, rail)).response?.status ?? {};

    /** Returns the bytes of the response. */
    async function bytes(): Promise<Buffer> {
      const method = { ...Rpcs.getRailAccount, responseDeserialize: (value: Buffer) => value };
      const request = { organization_id: organizationId, rail: "mpesa" };
      const { response } = await admin.call<typeof request, Buffer>(method, request, vera);
      return response ?? Buffer.alloc(0);
    }

    it("is probed only where there is one", async () => {
      const finn = await service.operator("Finn", "finance");
      const request = { organization_id: organizationId, rail: "sandbox" };
      expect(await admin.call(Rpcs.probeRailAccount, request, finn)).to.include({ reason: "RAIL_ACCOUNT_NOT_FOUND" });
    });

    it("shows settings, limits and state, and why this server cannot use the account", async () => {
      const status = await statusOf(organizationId);
      expect(JSON.parse(status.settings ?? "{}")).to.deep.equal(MPESA_SETTINGS);
      expect(status.account).to.include({ id: MPESA_ID, rail: "mpesa", is_default: true });
      expect(status).to.deep.include({
        revision: 1n,
        begin_within_seconds: 120n,
        confirm_above: "100.50",
        resolve_alone_max: "0.00",
        credentials_expire_soon: true,
        open_payments: 0n,
        unknown_payouts: 0n,
        oldest_unknown_at: undefined,
        unknown_transaction_ids: [],
        begins_payouts: true,
        balances: [],
      });
      // The servers of this test have no address for callbacks.
      expect(status.problem).to.include("KESC_CALLBACK_BASE_URL");
    });

    it("shows payouts of unknown outcome, which hold new ones back unless a person opens payouts", async () => {
      const { cell, address } = service.opened;
      const account = createAccount(organizationId, "amina");
      const of = { organizationId, accountId: account.newAccountId, amount: "10.00" };
      const funds = mint({ ...of, amount: "100.00", reference: "funds" });
      const terms = { railAccountId: MPESA_ID };
      const old = redeem({ ...of, reference: "old", rail: "mpesa" as Rail, terms });
      const { newTransactionId: transactionId } = old;
      await cell.committer.commit([account, funds, old], now());
      await cell.committer.commit([beginPayment(organizationId, transactionId, 1)], now());
      // The settlement may have looked at the payment before it was begun.
      const begun = await payments(cell).payment(transactionId);
      if (begun === undefined) throw new Error("the payment was not stored");
      await payments(cell).reschedule(begun, { dueAt: NO_DEADLINE, checks: begun.checks + 1, code: "OPEN" });
      const begunAt = now() - 16 * MINUTE_MILLIS;
      const setBegunAt = (at: number) =>
        execute(address, `UPDATE payments SET begun_at = ${String(at)} WHERE begun_at IS NOT NULL`);
      await setBegunAt(begunAt);
      const accounts = [{ name: "Utility Account", currency: "KES", availableCents: 123_456 }];
      await tellBalance(cell, MPESA_ID, { json: JSON.stringify({ accounts }), at: toUnixMillis(begunAt) });

      const status = await statusOf(organizationId);
      const told = { seconds: BigInt(Math.floor(begunAt / 1_000)), nanos: (begunAt % 1_000) * 1_000_000 };
      expect(status).to.deep.include({
        open_payments: 1n,
        unknown_payouts: 1n,
        oldest_unknown_at: told,
        unknown_transaction_ids: [transactionId],
        begins_payouts: false,
      });
      const [balance] = status.balances ?? [];
      expect(balance).to.deep.include({ rail: "mpesa", name: "Utility Account", available: "1234.56" });
      expect(balance?.reported_at).to.deep.equal(told);

      for (const [payouts, mode, begins] of [
        ["open", PayoutMode.PAYOUT_MODE_OPEN, true],
        ["closed", PayoutMode.PAYOUT_MODE_CLOSED, false],
      ] as const) {
        const change = { payouts, reason: "8006", now: now() };
        await setPayouts(cell, { organizationId, rail: "mpesa" as Rail }, change);
        const changed = await statusOf(organizationId);
        expect(changed.account).to.include({ payouts: mode, payouts_note: "8006" });
        expect(changed.begins_payouts).to.equal(begins);
      }
      // As the book says it.
      await setBegunAt(begun.begunAt ?? 0);
    });

    it("has no problem where the server can use the account", async () => {
      const { database } = service.opened;
      const { id } = await keys(database, now).createOrganization("Tests", { isSandbox: true });
      const none = { credentials: undefined, credentialsExpireAt: undefined, isDefault: false };
      await save(id, { id: SANDBOX_ID, rail: "sandbox" as Rail, settings: "{}", ...none });
      const status = await statusOf(id, "sandbox");
      expect(status).to.include({ settings: "{}", problem: undefined, credentials_expire_soon: false });
    });

    it("sends no credential, and no settings that the rail does not take", async () => {
      const { cell, address } = service.opened;
      const [stored] = (await storedRailAccounts(cell)).filter(({ id }) => id === MPESA_ID);
      const sealed = Buffer.from(stored?.credentials?.hex ?? "", "hex");
      expect(sealed).to.have.length.above(0);
      const expectNone = (sent: Buffer): void => {
        expect(sent.includes(MPESA_ID)).to.equal(true);
        expect(sent.includes(SECRET)).to.equal(false);
        expect(sent.includes(sealed)).to.equal(false);
      };
      expectNone(await bytes());
      const setSettings = (text: string) =>
        execute(address, `UPDATE rail_accounts SET settings = '${text}' WHERE id = '${MPESA_ID}'`);
      await setSettings(JSON.stringify({ ...MPESA_SETTINGS, passkey: SECRET }));
      try {
        expectNone(await bytes());
        const { settings, problem } = await statusOf(organizationId);
        expect(settings).to.equal(undefined);
        expect(problem).to.include("was changed in the database").and.not.include(SECRET);
      } finally {
        await setSettings(stored?.settings ?? "");
      }
    });

    it("refuses an unknown organization, a rail without an account, and a bad name", async () => {
      const unknown = await ask(UNKNOWN_ORG);
      expect(unknown).to.deep.include({ reason: "ORGANIZATION_NOT_FOUND", facts: { organization_id: UNKNOWN_ORG } });
      const none = await ask(organizationId, "sandbox");
      expect([none.reason, none.facts]).to.deep.equal(["RAIL_ACCOUNT_NOT_FOUND", { rail: "sandbox" }]);
      for (const [id, field] of [
        ["", "kesc-organization"],
        [organizationId, "rail"],
      ] as const) {
        const bad = await ask(id, "M-Pesa");
        expect(bad.fields?.map((each) => each.field)).to.deep.equal([field]);
      }
    });
  });
}
