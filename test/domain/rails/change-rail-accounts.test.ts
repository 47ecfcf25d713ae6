import { expect } from "chai";

import { WIDENS_ALONE } from "../../../src/domain/authority.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { DIRECT_RAIL, type Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { ALONE } from "../../support/commands.js";
import { asShown, decide, effectOf, putsOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenPayment,
  givenPending,
  givenProposal,
  railAccount,
} from "../../support/given.js";
import { NOW, ORGANIZATION, RAIL_TERMS, SLOW_RAIL, STRANGER } from "../../support/names.js";
import { setDefaultRail, setPayouts, setRailAccount, watchRailAccount } from "../../support/operations/rails.js";
import { beginPayment } from "../../support/operations/transactions.js";

const OTHER = { id: "rail_other" as RailAccountId, rail: "other" as Rail };
const id = RAIL_TERMS.railAccountId;
const own = railAccount(ORGANIZATION, { payouts: "closed", payoutsReason: "8006", createdAt: toUnixMillis(5) });
const ONE = { count: 1, revisions: 1 };
const SEEN = { accountsOfAll: "1:1", movesPlace: false };
const detailsOf = (entries: readonly { readonly detail?: string | undefined }[]): unknown[] =>
  entries.map(({ detail }) => JSON.parse(detail ?? "{}") as unknown);

describe("setting an account at a rail", () => {
  const sealed = { hex: "aa", sha256: "bb" };
  const given = { settings: '{"a":1}', credentialsHmac: "cc", sealed, resolveAloneMaxCents: 7 as never };

  it("stores a new one with payouts AUTO, and a row that says all but its credentials", () => {
    const command = setRailAccount(ORGANIZATION, { ...given, isDefault: true, note: "the first" as never });
    const effect = effectOf(decide({}, command));
    const row = railAccount(ORGANIZATION, {
      settings: '{"a":1}',
      credentials: sealed,
      isDefault: true,
      resolveAloneMaxCents: 7 as never,
      createdAt: NOW,
      updatedAt: NOW,
    });
    expect(effect.puts).to.deep.equal([{ table: "railAccounts", row }]);
    expect(effect.entries.map(({ kind, reason }) => [kind, reason])).to.deep.equal([["rail.changed", "the first"]]);
    expect(detailsOf(effect.entries)).to.deep.equal([
      {
        id,
        organization_id: ORGANIZATION,
        rail: "mpesa",
        settings: '{"a":1}',
        credentials_expire_at: null,
        payouts: "auto",
        payouts_reason: "",
        is_usual: 1,
        begin_within_millis: 1_000,
        confirm_above_cents: 0,
        resolve_alone_max_cents: 7,
        float_min_cents: 0,
        revision: 1,
        credentials_sha256: "bb",
      },
    ]);
  });

  it("keeps the payouts and the age of an earlier one, and counts the change", () => {
    const command = setRailAccount(ORGANIZATION, { credentialsExpireAt: toUnixMillis(9), facts: SEEN });
    const [row] = putsOf(effectOf(decide({ railAccounts: [own], railAccountsOfCells: ONE }, command)), "railAccounts");
    const kept = { payouts: "closed", payoutsReason: "8006", createdAt: 5 };
    expect(row).to.include({ ...kept, revision: 2, credentials: undefined, credentialsExpireAt: 9, updatedAt: NOW });
  });

  it("takes the default from another one first, with a row for each", () => {
    const former = railAccount(ORGANIZATION, { ...OTHER, isDefault: true });
    const command = setRailAccount(ORGANIZATION, { isDefault: true, facts: SEEN });
    const effect = effectOf(decide({ railAccounts: [former], railAccountsOfCells: ONE }, command));
    expect(putsOf(effect, "railAccounts").map((row) => [row.id, row.isDefault, row.revision])).to.deep.equal([
      [OTHER.id, false, 2],
      [id, true, 1],
    ]);
    expect(effect.entries).to.have.length(2);
  });

  const pending = givenPending({ accountId: givenAccount().id });
  const underWay = { paymentsUnderWay: new Map([[id, 3]]) };
  for (const [what, rows, facts, expected] of [
    ["that the caller has read before another change", {}, { accountsOfAll: "2:3" }, "RAIL_ACCOUNT_CHANGED"],
    [
      "whose rail has an account with another id",
      { railAccounts: [{ ...own, id: OTHER.id }] },
      {},
      "RAIL_ACCOUNT_CHANGED",
    ],
    ["at another place while the rail has payments", underWay, { movesPlace: true }, "RAIL_PAYMENTS_UNDER_WAY"],
    ["at the same place while the rail has payments", underWay, {}, "effect"],
    ["at another place once the rail has none", {}, { movesPlace: true }, "effect"],
  ] as const) {
    it(`decides ${expected} about one ${what}`, () => {
      const command = setRailAccount(ORGANIZATION, { facts: { ...SEEN, ...facts } });
      expect(wordOf(decide({ railAccounts: [own], railAccountsOfCells: ONE, ...rows }, command))).to.equal(expected);
    });
  }

  it("sees a payment that began earlier in the batch, and the begin sees a change of the batch", () => {
    const account = givenAccount();
    const rows = {
      accounts: [account],
      transactions: [{ ...pending, accountId: account.id }],
      payments: [givenPayment(pending, { state: "READY" })],
      railAccounts: [own],
      railAccountsOfCells: ONE,
    };
    const move = setRailAccount(ORGANIZATION, { facts: { ...SEEN, movesPlace: true } });
    const begin = beginPayment(ORGANIZATION, pending.id, 1);
    const first = givenBook(rows);
    first.apply(effectOf(decide(first, begin)));
    expect(wordOf(decide(first, move))).to.equal("RAIL_PAYMENTS_UNDER_WAY");
    const second = givenBook(rows);
    second.apply(effectOf(decide(second, move)));
    expect(wordOf(decide(second, begin))).to.equal("RAIL_ACCOUNT_CHANGED");
    expect(second.railAccountsOfCells()).to.equal("1:2");
  });

  it("counts a new account of the batch", () => {
    const book = givenBook();
    book.apply(effectOf(decide(book, setRailAccount(ORGANIZATION))));
    expect(book.railAccountsOfCells()).to.equal("1:1");
    expect(book.railAccounts(STRANGER)).to.deep.equal([]);
  });

  for (const [what, groups, max, kind] of [
    ["rises", [WIDENS_ALONE], 101, "book.proposed"],
    ["rises in a sandbox, or for the machine", [], 101, "rail.changed"],
    ["stays", [WIDENS_ALONE], 100, "rail.changed"],
    ["falls", [WIDENS_ALONE], 99, "rail.changed"],
  ] as const) {
    it(`needs a second person in every policy if what one person may decide alone rises: it ${what}`, () => {
      const [before, resolveAloneMaxCents] = [toCents(100), toCents(max)];
      const railAccounts = [railAccount(ORGANIZATION, { resolveAloneMaxCents: before })];
      const command = setRailAccount(ORGANIZATION, {
        facts: SEEN,
        resolveAloneMaxCents,
        authority: { ...ALONE, groups },
      });
      expect(effectOf(decide({ railAccounts, railAccountsOfCells: ONE }, command)).entries[0]?.kind).to.equal(kind);
    });
  }

  it("needs a second person, whose approval takes the secret of the proposal", () => {
    const command = setRailAccount(ORGANIZATION, {
      ...given,
      authority: { ...ALONE, groups: ["rails", WIDENS_ALONE] },
    });
    const decision = decide({}, command);
    const [proposal] = putsOf(effectOf(decision), "proposals");
    if (proposal === undefined) throw new Error("nothing was proposed");
    expect(proposal.sealed).to.equal(sealed);
    expect(proposal.content).not.to.contain('"aa"');
    const authority = { ...ALONE, person: "opr_b" as never, approves: proposal.id };
    const approves = asShown({ ...command, sealed: undefined, authority }, proposal.content);
    const effect = effectOf(decide({ proposals: [givenProposal(proposal)] }, approves));
    expect(putsOf(effect, "railAccounts")[0]?.credentials).to.equal(sealed);
    expect(putsOf(effect, "proposals")[0]?.sealed).to.equal(undefined);
  });
});

describe("setting the default rail", () => {
  const usual = railAccount(ORGANIZATION, { isDefault: true });
  const other = railAccount(ORGANIZATION, OTHER);

  for (const [rail, changed] of [
    [
      OTHER.rail,
      [
        [id, false],
        [OTHER.id, true],
      ],
    ],
    [DIRECT_RAIL, [[id, false]]],
  ] as const) {
    it(`makes ${rail} the only one, the old one first`, () => {
      for (const railAccounts of [
        [usual, other],
        [other, usual],
      ]) {
        const decision = decide(givenBook({ railAccounts }), setDefaultRail(ORGANIZATION, rail));
        const effect = effectOf(decision);
        expect(putsOf(effect, "railAccounts").map((row) => [row.id, row.isDefault])).to.deep.equal(changed);
        expect(decision).to.have.nested.property("resource.resource.lastSeq", 1 + changed.length);
      }
    });
  }

  for (const [rail, expected] of [
    [SLOW_RAIL, "replay"],
    ["none", "RAIL_ACCOUNT_NOT_FOUND"],
  ] as const) {
    it(`decides ${expected} about ${rail}`, () => {
      const command = setDefaultRail(ORGANIZATION, rail as Rail);
      expect(wordOf(decide(givenBook({ railAccounts: [usual] }), command))).to.equal(expected);
    });
  }
});

describe("the warnings of an account", () => {
  const warned = (entries: readonly { readonly kind: string; readonly detail?: string | undefined }[]): unknown[] =>
    entries.flatMap(({ kind, detail }) =>
      kind === "rail.changed" ? [] : [[kind, (JSON.parse(detail ?? "") as { code: string }).code]],
    );
  const low = railAccount(ORGANIZATION, { floatMinCents: toCents(100) });

  it("follow what was seen of it, and what stands is a replay", () => {
    const command = watchRailAccount(ORGANIZATION, { availableCents: 99 });
    const book = givenBook({ railAccounts: [low] });
    const effect = effectOf(decide(book, command));
    const detail = { id, rail: SLOW_RAIL, code: "FLOAT_LOW", available_cents: 99, float_min_cents: 100 };
    expect(detailsOf(effect.entries)).to.deep.equal([detail]);
    const warnings = { FLOAT_LOW: { available_cents: 99, float_min_cents: 100 } };
    // Neither the revision nor the time of the account: a payment under way goes on.
    expect(putsOf(effect, "railAccounts")).to.deep.equal([{ ...low, warnings }]);
    book.apply(effect);
    expect(wordOf(decide(book, command))).to.equal("replay");
    const none = watchRailAccount(ORGANIZATION, { rail: "none" as Rail });
    expect(wordOf(decide(book, none))).to.equal("RAIL_ACCOUNT_NOT_FOUND");
  });

  it("end in the row after a change of the account that ends their cause", () => {
    const expire_at = NOW + 1;
    const warnings = { FLOAT_LOW: {}, CREDENTIALS_EXPIRE: { expire_at, days: 1 } };
    const before = railAccount(ORGANIZATION, { ...low, credentialsExpireAt: toUnixMillis(expire_at), warnings });
    const book = givenBook({ railAccounts: [before], railAccountsOfCells: ONE });
    const effect = effectOf(decide(book, setRailAccount(ORGANIZATION, { facts: SEEN })));
    expect(warned(effect.entries)).to.deep.equal([
      ["rail.cleared", "FLOAT_LOW"],
      ["rail.cleared", "CREDENTIALS_EXPIRE"],
    ]);
    expect(putsOf(effect, "railAccounts")[0]).to.deep.include({ warnings: {}, revision: 2 });
    const kept = setRailAccount(ORGANIZATION, { facts: SEEN, floatMinCents: toCents(5) });
    const after = effectOf(decide(book, kept));
    expect(putsOf(after, "railAccounts")[0]?.warnings).to.deep.equal({ FLOAT_LOW: {} });
  });

  it("begin with payouts that the settlement closes, and end when a person opens them", () => {
    const book = givenBook({ railAccounts: [railAccount(ORGANIZATION)] });
    const closing = effectOf(decide(book, setPayouts(ORGANIZATION, "closed", { lockedCode: "8006" })));
    expect(warned(closing.entries)).to.deep.equal([
      ["rail.warned", "INITIATOR_LOCKED"],
      ["rail.warned", "PAYOUTS_HELD"],
    ]);
    book.apply(closing);
    const opening = effectOf(decide(book, setPayouts(ORGANIZATION, "auto")));
    expect(warned(opening.entries)).to.deep.equal([
      ["rail.cleared", "INITIATOR_LOCKED"],
      ["rail.cleared", "PAYOUTS_HELD"],
    ]);
  });

  const refusedCredential = { credential: "initiator", code: "2001" } as const;

  it("of a refused credential are of the account as it was when the rail refused it, until another one works, or a person opens payouts", () => {
    const book = givenBook({ railAccounts: [railAccount(ORGANIZATION, { revision: 2 })] });
    const old = watchRailAccount(ORGANIZATION, { refusedCredential, revision: 1 });
    expect(decide(book, old).kind).to.equal("replay");
    const refused = effectOf(decide(book, watchRailAccount(ORGANIZATION, { refusedCredential, revision: 2 })));
    expect(warned(refused.entries)).to.deep.equal([["rail.warned", "CREDENTIALS_REFUSED"]]);
    book.apply(refused);
    const set = effectOf(
      decide(book, setRailAccount(ORGANIZATION, { facts: { ...SEEN, accountsOfAll: book.railAccountsOfCells() } })),
    );
    expect(warned(set.entries)).to.deep.equal([["rail.warned", "CREDENTIALS_REFUSED"]]);
    book.apply(set);
    const proven = effectOf(decide(book, watchRailAccount(ORGANIZATION, { isProven: true })));
    expect(warned(proven.entries)).to.deep.equal([["rail.cleared", "CREDENTIALS_REFUSED"]]);
    const opened = effectOf(decide(book, setPayouts(ORGANIZATION, "open")));
    expect(warned(opened.entries)).to.deep.equal([["rail.cleared", "CREDENTIALS_REFUSED"]]);
  });
});

describe("setting payouts", () => {
  const book = givenBook({ railAccounts: [own] });

  it("changes the mode with the words of the person", () => {
    const command = setPayouts(ORGANIZATION, "auto", { note: "well again" as never });
    const [row] = putsOf(effectOf(decide(book, command)), "railAccounts");
    expect(row).to.deep.equal({ ...own, payouts: "auto", payoutsReason: "well again", revision: 2, updatedAt: NOW });
  });

  for (const [payouts, given, expected] of [
    ["closed", { note: "8006" as never }, "replay"],
    ["closed", { note: "another reason" as never }, "effect"],
    ["open", { rail: "none" as Rail }, "RAIL_ACCOUNT_NOT_FOUND"],
  ] as const) {
    it(`decides ${expected} about ${payouts} with ${JSON.stringify(given)}`, () => {
      expect(wordOf(decide(book, setPayouts(ORGANIZATION, payouts, given)))).to.equal(expected);
    });
  }

  for (const [payouts, expected] of [
    ["closed", "railAccounts"],
    ["open", "proposals"],
    ["auto", "proposals"],
  ] as const) {
    it(`${expected === "proposals" ? "needs" : "never needs"} a second person for ${payouts}`, () => {
      const command = setPayouts(ORGANIZATION, payouts, { authority: { ...ALONE, groups: ["rails", WIDENS_ALONE] } });
      const { puts } = effectOf(decide(book, command));
      expect(puts.map(({ table }) => table)).to.deep.equal([expected]);
    });
  }
});
