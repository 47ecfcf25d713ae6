import { expect } from "chai";

import { machineLedger } from "../../src/cli/commit-as-operator.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { MovementDirection, PayoutMode } from "../../src/gen/kesc/admin/v1/resources.js";
import { type Freeze, FreezeReason } from "../../src/gen/kesc/v1/freeze.js";
import { FlagReason } from "../../src/gen/kesc/v1/payment.js";
import { ReserveKind } from "../../src/gen/kesc/v1/supply.js";
import { readOperatorsAddress, readOperatorsContract } from "../../src/grpc/messages/contract.js";
import { storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import type { GrpcCaller, Method } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { createAccount } from "../support/operations/accounts.js";
import { MODELLED } from "../support/operations/table.js";
import { beginPayment, flag, mint, redeem } from "../support/operations/transactions.js";
import {
  actAs,
  approved,
  type GivenOperator,
  machineOf,
  MPESA_CREDENTIALS,
  MPESA_SETTINGS,
  type OPERATOR_RPCS,
  type OperatorService,
  proposalOf,
  SECRET,
  startOperatorService,
  textOf,
} from "./given.js";

const MPESA = "mpesa" as Rail;
const now = () => toUnixMillis(Date.now());

type Fields = Readonly<Record<string, unknown>>;
interface Acted {
  readonly freeze?: Freeze | undefined;
}
/** Who decides: one person, two, or two above what the accounts at rails let one person do. */
type Needs = "one" | "two" | "two if much";

for (const engine of ENGINES) {
  describe(`acts on money, rails and people (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let [fin, sue, ann, bob] = [] as unknown as readonly GivenOperator[] as [
      GivenOperator,
      GivenOperator,
      GivenOperator,
      GivenOperator,
    ];
    let organizationId: OrganizationId;
    let accountId: AccountId;
    let emptyId: AccountId;
    let closingId: AccountId;
    let orders: readonly string[] = [];
    /** Mints of 5.00 and 5.01. */
    let mints: readonly string[] = [];

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      fin = await service.operator("Fin", "finance");
      sue = await service.operator("Sue", "support");
      ann = await service.operator("Ann", "admin");
      bob = await service.operator("Bob", "approver");
      ({ organizationId } = service.tenant);
      const [account, empty] = [createAccount(organizationId, "amina"), createAccount(organizationId, "empty")];
      ({ newAccountId: accountId } = account);
      ({ newAccountId: emptyId } = empty);
      const closing = createAccount(organizationId, "closing");
      ({ newAccountId: closingId } = closing);
      const of = { organizationId, accountId, amount: "10.00" };
      const back = ["5.00", "5.01"].map((amount) => mint({ ...of, amount, reference: `back ${amount}` }));
      const funds = mint({ ...of, amount: "1000.00", reference: "funds" });
      const terms = { railAccountId: "rail_old" as RailAccountId };
      const made = ["one", "two", "three", "lost"].map((reference) => redeem({ ...of, reference, rail: MPESA, terms }));
      const pending = redeem({ ...of, reference: "four", rail: MPESA, terms });
      const commands = made.flatMap((order) => [order, beginPayment(organizationId, order.newTransactionId)]);
      const done = made.slice(0, 1).map(({ newTransactionId: id }) => flag(organizationId, id));
      await service.opened.cell.committer.commit(
        [account, empty, closing, funds, ...back, ...commands, ...done, pending],
        now(),
      );
      mints = back.map(({ newTransactionId }) => newTransactionId);
      orders = [...made.slice(0, 3), pending, ...made.slice(3)].map(({ newTransactionId }) => newTransactionId);
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    const call = (rpc: keyof typeof OPERATOR_RPCS, fields: Fields, by: GivenOperator, key?: string) => {
      const words = `words about ${rpc}`;
      const own = { organization_id: organizationId, note: words, description: words };
      return actAs<Acted>(admin, rpc, { ...own, ...fields }, { by, key });
    };
    const rail = (given: Fields = {}): Fields => ({
      rail: "mpesa",
      settings: JSON.stringify(MPESA_SETTINGS),
      credentials: JSON.stringify(MPESA_CREDENTIALS),
      credentials_expire_at: { seconds: BigInt(Math.floor(Date.now() / 1_000)) + 15n * 86_400n, nanos: 0 },
      ...given,
    });
    const rows = async () => {
      const isAct = "kind NOT IN ('rail.warned', 'rail.cleared', 'book.proposal_approved')";
      const sql = `SELECT kind, actor, reason FROM journal WHERE book = 1 AND ${isAct} ORDER BY seq DESC LIMIT 1`;
      const [row] = await execute(service.opened.address, sql);
      return row as { kind: string; actor: string; reason: string } | undefined;
    };

    const IN = MovementDirection.MOVEMENT_DIRECTION_IN;
    const OUT = MovementDirection.MOVEMENT_DIRECTION_OUT;
    /** Every act of a finance or admin, in an order in which each is possible. */
    const ACTS: readonly (readonly [
      rpc: keyof typeof OPERATOR_RPCS,
      kind: string,
      needs: Needs,
      fields: () => Fields,
    ])[] = [
      ["setRailAccount", "rail.changed", "two", () => rail({ resolve_alone_max: "5.00" })],
      ["setDefaultRail", "rail.changed", "two", () => ({ rail: "mpesa" })],
      ["setPayouts", "rail.changed", "one", () => ({ rail: "mpesa", payouts: PayoutMode.PAYOUT_MODE_CLOSED })],
      ["setPayouts", "rail.changed", "two", () => ({ rail: "mpesa", payouts: PayoutMode.PAYOUT_MODE_OPEN })],
      ["requireReceipts", "organization.receipts_required", "one", () => ({ required: true })],
      ["requireReceipts", "organization.receipts_optional", "two", () => ({ required: false })],
      ["recordReserve", "reserve.recorded", "two", () => place("100.00")],
      ["setReserveRules", "reserve.rules_set", "two", () => ({ rules: [RULE] })],
      ["setLimits", "limits.set", "one", () => ({ tier: "small", changes: [LIMIT], remove: false })],
      ["setAccountTier", "account.tiered", "one", () => ({ account_id: accountId, tier: "small" })],
      ["setAccountTier", "account.tiered", "two", () => ({ account_id: accountId, tier: "default" })],
      ["bookPayment", "book.paid", "one", () => paid("RKTQDM7R01", "5.00")],
      ["bookPayment", "book.paid", "two if much", () => paid("RKTQDM7R02", "9.00")],
      ["coverShortfall", "book.covered", "two if much", () => ({ amount: "5.01" })],
      ["recoverShortfall", "book.recovered", "one", () => ({ account_id: accountId, amount: "2.00" })],
      ["adjustMovement", "book.adjusted", "one", () => ({ ...more(OUT), account_id: accountId })],
      ["adjustMovement", "book.adjusted", "one", () => ({ ...more(IN) })],
      [
        "explainTransfer",
        "book.transferred",
        "two if much",
        () => ({ ...paid("RKTQDM7R03", "90.00"), direction: OUT }),
      ],
      ["fundCharges", "book.funded", "two if much", () => ({ ...paid("RKTQDM7R19", "90.00"), direction: IN })],
      // The account at the rail of these orders is none, so it lets nobody decide alone.
      ["resolveTransaction", "transaction.completed", "two if much", () => resolution(0, "completed", "RKTQDM7R04")],
      ["resolveTransactions", "transaction.completed", "two if much", () => lost("RKTQDM7R20")],
      ["reverseTransaction", "transaction.completed", "one", () => ({ transaction_id: mints[0] })],
      [
        "reverseTransaction",
        "transaction.completed",
        "two if much",
        () => ({ transaction_id: mints[1], receipt: { source: "b", number: "R5" } }),
      ],
      ["updateAccount", "account.updated", "one", () => ({ account_id: closingId, phone_number: "0733000111" })],
      ["closeAccount", "account.closed", "one", () => ({ account_id: closingId })],
      ["cancelTransaction", "transaction.canceled", "one", () => ({ transaction_id: orders[3] })],
      ["freezeAccount", "account.frozen", "one", () => ({ account_id: accountId, reason: FREEZE_REASON_FRAUD })],
      ["unfreezeAccount", "account.unfrozen", "two", () => ({ account_id: accountId, freeze_id: freezeId })],
      ["eraseAccount", "account.erased", "two", () => ({ account_id: emptyId })],
    ];
    /** The freeze of the act before the one that lifts it. */
    let freezeId = "";
    const LIMIT = { type: 1, period: 2, max_amount: "500.00", lift: false };
    const RULE = { kind: ReserveKind.RESERVE_KIND_BANK_KENYA, share_min: 30, stale_after_days: 7 };
    const { FREEZE_REASON_FRAUD } = FreezeReason;
    const paid = (rail_receipt: string, amount: string): Fields => ({ rail_receipt, amount, account_id: "" });
    const place = (amount: string): Fields => ({
      place: "KCB 1",
      amount,
      as_of_day: "2025-12-31",
      evidence: "page 1",
      kind: ReserveKind.RESERVE_KIND_CASH,
      document_sha256: "",
      matures_on: "2026-12-31",
    });
    const more = (direction: MovementDirection): Fields => ({ movement: "RKTQDM7R01", direction, amount: "1.00" });
    const lost = (receipt: string): Fields => ({
      results: [{ transaction_id: orders[4], receipt, amount: "10.00" }],
      preview: false,
    });
    const resolution = (index: number, $case: string, rail_receipt: string): Fields => ({
      transaction_id: orders[index],
      outcome: { $case, value: { rail_receipt } },
    });

    for (const [index, [rpc, kind, needs, fields]] of ACTS.entries()) {
      it(`${rpc} (${String(index)}) takes ${needs}, and the row names who did it`, async () => {
        const by = /^(erase|freeze|update|close)Account$/.test(rpc) ? ann : fin;
        const key = /Shortfall$|^book|^adjust|^explain|^fund|^freeze/.test(rpc) ? `key-${String(index)}` : undefined;
        const { response, code, message, replayed, proposalId: id } = await call(rpc, fields(), by, key);
        expect(code, message).to.equal(0);
        freezeId = response?.freeze?.id ?? freezeId;
        let actor = by.operator.id as string;
        if (needs !== "one") {
          expect((await proposalOf(admin, id, bob))?.type, "a proposal").to.equal(rpc);
          // The same again is the proposal that waits, unless the act makes a new id.
          const again = await call(rpc, fields(), by, key);
          if (rpc !== "setRailAccount") expect(again.proposalId).to.equal(id);
          const own = await approved(admin, id, by);
          expect(own).to.equal(by === ann ? "OWN_PROPOSAL" : "ROLE_REQUIRED");
          expect(await approved(service.admin[1], id, bob)).to.equal(undefined);
          // A row of an account says in its detail who has decided a transaction.
          actor = rpc.startsWith("resolveTransaction") ? bob.operator.id : `${actor},${bob.operator.id}`;
        } else expect([id, replayed]).to.deep.equal([undefined, false]);
        const row = await rows();
        expect([row?.kind, row?.actor]).to.deep.equal([kind, actor]);
        // The words of a reversal are in its transaction, and those of a change are its fields.
        if (!/^(resolve|reverse)Transaction$|^updateAccount$/.test(rpc))
          expect(row?.reason).to.equal(`words about ${rpc}`);
        if (rpc === "setRailAccount") return;
        const repeated = await call(rpc, fields(), by, key);
        // A repeat that says that nothing changes would confirm a guess. So it is a look.
        const isLook = rpc === "updateAccount";
        expect([repeated.replayed, repeated.proposalId]).to.deep.equal([!isLook, undefined]);
        if (isLook) expect((await rows())?.reason).to.equal("update: phone_number");
        else expect(await rows()).to.deep.equal(row);
      });
    }

    it("names every act that the models know in the table of this test", () => {
      const walked = ACTS.map(([rpc]) => rpc as string);
      const elsewhere = /Deposit|^clearFlag$|^(release|refuse)Transaction$/;
      const rpcs = readOperatorsAddress().services.flatMap((each) => each.rpcs);
      const acts = rpcs.map(({ localName }) => localName);
      const known = MODELLED.filter((name) => acts.includes(name) && !elsewhere.test(name));
      expect(walked).to.include.members(known);
      const mayWait = rpcs.flatMap(({ localName, secondPerson }) => (secondPerson ? [localName] : []));
      expect(mayWait).to.include.members(ACTS.flatMap(([rpc, , needs]) => (needs === "one" ? [] : [rpc])));
    });

    it("lets support clear a flag and close payouts, and not open them", async () => {
      const lowered = await call(
        "clearFlag",
        { transaction_id: orders[0], flag: FlagReason.FLAG_REASON_OUTCOME_UNKNOWN },
        sue,
      );
      expect([lowered.code, lowered.replayed]).to.deep.equal([0, true]);
      for (const [payouts, reason] of [
        [PayoutMode.PAYOUT_MODE_CLOSED, undefined],
        [PayoutMode.PAYOUT_MODE_AUTO, "ROLE_REQUIRED"],
        [PayoutMode.PAYOUT_MODE_UNSPECIFIED, "INVALID_FIELD"],
      ] as const) {
        const reply = await call("setPayouts", { rail: "mpesa", payouts }, sue);
        expect(reply.reason, String(payouts)).to.equal(reason);
      }
    });

    it("asks corrections for an idempotency key, and does another one with a used key never", async () => {
      const cover = { amount: "1.00" };
      const { fields } = await call("coverShortfall", cover, fin);
      expect(fields?.map(({ field }) => field)).to.deep.equal(["idempotency-key"]);
      expect((await call("coverShortfall", cover, fin, "once")).reason).to.equal(undefined);
      expect((await call("coverShortfall", { amount: "1.01" }, fin, "once")).reason).to.equal("IDEMPOTENCY_KEY_REUSED");
    });

    it("refuses a shortcode that another organization has, and another one while payments are under way", async () => {
      const { response } = await admin.call(Rpcs.createOrganization, { name: "Other" }, ann);
      const organization_id = response?.organization?.id ?? "";
      const taken = await call("setRailAccount", { ...rail(), organization_id }, fin);
      expect([taken.reason, taken.facts?.["organization_id"]]).to.deep.equal(["RAIL_PLACE_TAKEN", organizationId]);
      const [stored] = await storedRailAccounts(service.opened.cell);
      const { address } = service.opened;
      await execute(address, `UPDATE payments SET rail_account_id = '${stored?.id ?? ""}' WHERE state = 'SENDING'`);
      const moved = rail({ settings: JSON.stringify({ ...MPESA_SETTINGS, collectShortcode: "174380" }) });
      expect((await call("setRailAccount", moved, fin)).reason).to.equal("RAIL_PAYMENTS_UNDER_WAY");
      const same = await call("setRailAccount", rail({ confirm_above: "1.00" }), fin);
      expect((await proposalOf(admin, same.proposalId, bob))?.type).to.equal("setRailAccount");
      await execute(address, "UPDATE payments SET rail_account_id = 'rail_old'");
    });

    for (const [what, given, expected] of [
      ["an unknown rail", { rail: "pesapal" }, ["rail"]],
      ["a field that is missing", { settings: "{}" }, ["settings"]],
      ["settings that are no JSON", { settings: "x" }, ["settings"]],
      [
        "no credentials",
        { credentials: "", credentials_expire_at: undefined },
        ["credentials", "credentials_expire_at"],
      ],
      ["credentials that have ended", { credentials_expire_at: { seconds: 1n, nanos: 0 } }, ["credentials_expire_at"]],
      ["a time that no mint begins in", { begin_within_seconds: 0 }, ["begin_within_seconds"]],
      ["files for a rail without any", { rail: "sandbox" }, ["settings", "credentials", "credentials_expire_at"]],
    ] as const) {
      it(`refuses ${what}, and repeats no secret`, async () => {
        const { fields = [], message } = await call("setRailAccount", rail(given), fin);
        expect([...new Set(fields.map(({ field }) => field))]).to.deep.equal(expected);
        expect(message).not.to.contain(SECRET);
      });
    }

    it("keeps every secret out of the database, the log and the lists, after each decision", async () => {
      const [stored] = await storedRailAccounts(service.opened.cell);
      const decisions = [
        (id: string) => approved(admin, id, bob),
        async (id: string) => (await admin.call(Rpcs.rejectProposal, { proposal_id: id }, bob)).reason,
      ];
      for (const [index, decide] of decisions.entries()) {
        const request = rail({ confirm_above: `2.0${String(index)}` });
        const { proposalId = "" } = await call("setRailAccount", request, fin);
        const waiting = await execute(service.opened.address, "SELECT sealed FROM proposals WHERE sealed IS NOT NULL");
        expect(waiting.length).to.be.greaterThan(0);
        expect(await decide(proposalId)).to.equal(undefined);
        const left = await execute(
          service.opened.address,
          `SELECT 1 AS found FROM proposals WHERE sealed IS NOT NULL AND id = '${proposalId}'`,
        );
        expect(left).to.deep.equal([]);
      }
      const lists = await Promise.all([
        admin.call(Rpcs.listProposals, { include_closed: true, page_size: 1_000 }, bob),
        admin.call(Rpcs.getRailAccount, { organization_id: organizationId, rail: "mpesa" }, bob),
        admin.call(Rpcs.listJournal, { organization_id: organizationId, page_size: 1_000 }, bob),
      ]);
      const texts = [textOf(lists), service.lines.join(""), await dump(service)];
      for (const text of texts) expect(text).not.to.contain(SECRET);
      expect(texts[2]).to.contain(stored?.id);
    });

    it("approves nothing whose secret somebody has changed in the database", async () => {
      const { proposalId: id = "" } = await call("setRailAccount", rail({ confirm_above: "3.00" }), fin);
      const [other] = await storedRailAccounts(service.opened.cell);
      const bytes =
        engine === "sqlite" ? `x'${other?.credentials?.hex ?? ""}'` : String.raw`'\x${other?.credentials?.hex ?? ""}'`;
      await execute(service.opened.address, `UPDATE proposals SET sealed = ${bytes} WHERE id = '${id}'`);
      expect(await approved(admin, id, bob)).to.equal("PROPOSAL_CLOSED");
      await admin.call(Rpcs.rejectProposal, { proposal_id: id }, bob);
    });

    it("lets an operator approve what an API key has proposed", async () => {
      const resolve = {
        transaction_id: orders[1] ?? "",
        completed: { rail_receipt: "RKTQDM7R07" },
        note: "seen",
      };
      const { response, message } = await service.publicly.call("ResolveTransaction", resolve, {
        key: service.tenant.key,
      });
      expect(response, message).to.have.nested.property("transaction.status");
      const { response: listed } = await admin.call(
        Rpcs.listProposals,
        { include_closed: false, page_size: 1_000 },
        bob,
      );
      const proposal = listed?.proposals.find(({ proposed_by: by }) => by === "test");
      expect(proposal?.type).to.equal("resolveTransaction");
      expect(await approved(admin, proposal?.id, bob)).to.equal(undefined);
      expect(await rows()).to.include({ kind: "transaction.completed", actor: bob.operator.id });
    });

    describe("in the process of the command", () => {
      /** Returns the proposal that the act waits as. */
      const run = async (localName: string, fields: Fields, idempotencyKey?: string): Promise<string | undefined> => {
        const { cell } = service.opened;
        const machine = machineOf(service.opened, machineLedger(cell));
        const contract = readOperatorsContract().services.flatMap(({ rpcs }) => rpcs);
        const rpc = contract.find((each) => each.localName === localName);
        const method = Rpcs[localName as keyof typeof Rpcs] as unknown as Method<Fields, unknown>;
        if (rpc === undefined) throw new Error(`no rpc ${localName}`);
        const given = { note: "by the machine", ...fields };
        let proposalId: string | undefined;
        const messages = machine.call(rpc, {
          organizationId,
          request: method.requestSerialize(given),
          idempotencyKey: idempotencyKey as never,
          onHead: (head) => ({ proposalId } = head),
        });
        const next = await messages.next();
        if (next.done !== false) throw new Error(JSON.stringify(next.value));
        return proposalId;
      };

      it("needs nobody for what only the policy asks for, and another person above the alone maximum", async () => {
        expect(await run("setRailAccount", rail({ resolve_alone_max: "6.00" }))).to.equal(undefined);
        expect(await rows()).to.deep.equal({ kind: "rail.changed", actor: "operator", reason: "by the machine" });
        expect(await run("setDefaultRail", { rail: "direct" })).to.equal(undefined);
        expect(await run("recordReserve", place("90.00"))).to.equal(undefined);
        expect(await run("bookPayment", paid("RKTQDM7R09", "6.00"), "m1")).to.equal(undefined);
        const much = paid("RKTQDM7R10", "6.01");
        const id = await run("bookPayment", much, "m2");
        expect((await proposalOf(admin, id, bob))?.proposed_by).to.equal("operator");
        // The machine is one person, so a repeat approves nothing.
        expect(await run("bookPayment", much, "m2")).to.equal(id);
        expect(await approved(admin, id, bob)).to.equal(undefined);
        expect(await rows()).to.include({ kind: "book.paid", actor: `operator,${bob.operator.id}` });
      });
    });
  });
}

/** Returns all texts and bytes of the tables that a secret could be in. */
async function dump({ opened }: OperatorService): Promise<string> {
  const tables = ["rail_accounts", "proposals", "journal", "operator_acts", "operator_proposals"];
  const read = tables.map((table) => execute(opened.address, `SELECT * FROM ${table}`));
  const found = (await Promise.all(read)).flat().flatMap((row) => Object.values(row as object) as unknown[]);
  return found
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
    .join("\n");
}
