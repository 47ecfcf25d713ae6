import { expect } from "chai";

import type { Acted } from "../../../src/domain/authority.js";
import { MAX_SUM_CENTS } from "../../../src/domain/book.js";
import type { RecordDeposits, RecordedDeposits, RecordedPayIn } from "../../../src/domain/deposits/record-deposits.js";
import type { Decider, Proposal } from "../../../src/domain/proposal.js";
import { BANK_RAIL } from "../../../src/domain/transaction.js";
import { NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { ALONE } from "../../support/commands.js";
import { asShown, decide, effectOf, expectRefused, proposedContent, putsOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenDeposit,
  givenHead,
  givenPlace,
  givenProposal,
  givenTransaction,
  railAccount,
} from "../../support/given.js";
import { depositReference, EARLIER, NOW, ORGANIZATION, receiptNamed, SLOW_RAIL } from "../../support/names.js";
import { receiveDeposit, recordDeposits } from "../../support/operations/deposits.js";

const [own, ofClosed, ofNobody] = [0, 1, 2].map(depositReference) as [
  ReturnType<typeof depositReference>,
  never,
  never,
];
const account = givenAccount({ depositReference: own });
const closed = givenAccount({
  depositReference: ofClosed,
  status: "CLOSED",
  availableCents: NO_CENTS,
  heldCents: NO_CENTS,
});
const railAccounts = [railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(10_000) })];
const rows = { railAccounts, accounts: [account, closed] };

function recordedBy(given: Partial<Loaded>, command: RecordDeposits): readonly RecordedPayIn[] {
  const decision = decide(given, command);
  if (decision.kind === "refusal") throw new Error(decision.refusal.reason);
  return (decision.resource as Acted<RecordedDeposits>).resource?.recorded ?? [];
}

function seen({ deposit, isNew }: RecordedPayIn): readonly unknown[] {
  return [isNew, deposit?.status, deposit?.reason];
}

describe("recording the deposits of a lost night", () => {
  it("takes those of a bank only from a place that has a figure: a misspelled one would be credited again", () => {
    const places = { ...rows, reservePlaces: [givenPlace("KCB 1234")] };
    const of = (source: string) => {
      const receipt = receiptNamed(`${source}:FT1`);
      return decide(places, { ...recordDeposits(ORGANIZATION, [{ receipt, reference: own }]), rail: BANK_RAIL });
    };
    expect(wordOf(of("kcb-1234"))).to.equal("effect");
    expectRefused(of("kcb-123"), { reason: "RESERVE_PLACE_NOT_FOUND", place: "kcb-123" });
  });

  it("adds up two deposits of one account in one commit", () => {
    const command = recordDeposits(ORGANIZATION, [
      { receipt: "d1", reference: own },
      { receipt: "d2", reference: own, amountCents: toCents(700), paidAt: EARLIER },
    ]);
    const effect = effectOf(decide(rows, command));
    expect(putsOf(effect, "accounts").map(({ availableCents }) => availableCents)).to.deep.equal([10_500, 11_200]);
    expect(effect.entries.map(({ kind, receipt }) => [kind, receipt])).to.deep.equal([
      ["deposit.received", "d1"],
      ["transaction.completed", undefined],
      ["deposit.received", "d2"],
      ["transaction.completed", undefined],
    ]);
    const [, second] = putsOf(effect, "deposits");
    expect(second).to.deep.equal({
      ...givenDeposit({
        id: command.facts.ofParts[1]?.newDepositId as never,
        receipt: receiptNamed("d2"),
        amountCents: toCents(700),
        status: "CREDITED",
        reason: undefined,
        accountId: account.id,
        transactionId: command.facts.ofParts[1]?.newTransactionId,
        credits: 1,
        typedReference: own as never,
        paidAt: EARLIER,
        createdAt: NOW,
        updatedAt: NOW,
      }),
    });
  });

  it("lets what nobody can be credited with wait, each for its reason", () => {
    const payIns = [
      { receipt: "d1" },
      { receipt: "d2", reference: "UNREADABLE" },
      { receipt: "d3", reference: ofNobody },
      { receipt: "d4", reference: ofClosed },
    ] as const;
    expect(recordedBy(rows, recordDeposits(ORGANIZATION, payIns)).map(seen)).to.deep.equal([
      [true, "UNALLOCATED", "NO_REFERENCE"],
      [true, "UNALLOCATED", "UNKNOWN_REFERENCE"],
      [true, "UNALLOCATED", "UNKNOWN_REFERENCE"],
      [true, "UNALLOCATED", "ACCOUNT_CLOSED"],
    ]);
  });

  it("lets a pay-in wait whose number the book has from another source", () => {
    const earlier = givenTransaction({ accountId: account.id, railReceipt: receiptNamed("kcb:d1") });
    const command = recordDeposits(ORGANIZATION, [{ receipt: "d1", reference: own }]);
    const [recorded] = recordedBy({ ...rows, transactions: [earlier] }, command);
    expect(recorded?.deposit).to.deep.include({
      reason: "RECEIPT_ALREADY_USED",
      sameNumber: { receipt: "kcb:d1", id: earlier.id },
    });
    const receipt = receiptNamed("kcb:d1");
    const used = { organizationId: ORGANIZATION, receipt, transactionId: undefined, depositId: undefined };
    const [beside] = recordedBy({ ...rows, receipts: [used] }, command);
    expect(beside?.deposit?.sameNumber).to.deep.equal({ receipt, id: undefined });
  });

  it("counts those before it against the limits of an account", () => {
    const limits = {
      organization: { MINT: {}, REDEEM: {} },
      tiers: new Map([["default", { MINT: { DAY: toCents(900) }, REDEEM: {} }]]),
      since: EARLIER,
      usage: undefined,
    };
    const payIns = [
      { receipt: "d1", reference: own },
      { receipt: "d2", reference: own },
      { receipt: "d3", reference: own, amountCents: toCents(400) },
    ];
    const book = { ...rows, books: [givenHead({ limits: limits as never })] };
    const command = recordDeposits(ORGANIZATION, payIns);
    expect(recordedBy(book, command).map(seen)).to.deep.equal([
      [true, "CREDITED", undefined],
      [true, "UNALLOCATED", "LIMIT_EXCEEDED"],
      [true, "CREDITED", undefined],
    ]);
    expect(effectOf(decide(book, command)).limits?.usage).to.not.equal(undefined);
  });

  it("passes over each receipt that the book has, or that an earlier pay-in has", () => {
    const known = givenDeposit();
    const receipts = [
      { organizationId: ORGANIZATION, receipt: known.receipt, transactionId: undefined, depositId: known.id },
    ];
    const payIns = [{ receipt: "d1" }, { receipt: "d2" }, { receipt: "d2" }];
    const book = { ...rows, deposits: [known], receipts };
    expect(recordedBy(book, recordDeposits(ORGANIZATION, payIns)).map(seen)).to.deep.equal([
      [false, "UNALLOCATED", "NO_REFERENCE"],
      [true, "UNALLOCATED", "NO_REFERENCE"],
      [false, undefined, undefined],
    ]);
    const again = decide(book, recordDeposits(ORGANIZATION, [{ receipt: "d1" }]));
    expect(again).to.deep.include({ kind: "replay", effect: { entries: [], puts: [] } });
  });

  it("leaves nothing to do for the report that comes later", () => {
    const book = givenBook(rows);
    book.apply(effectOf(decide(book, recordDeposits(ORGANIZATION, [{ receipt: "d1", reference: own }]))));
    const later = decide(book, receiveDeposit(ORGANIZATION, { typed: own }));
    expect(later.kind).to.equal("replay");
    expect(book.account(ORGANIZATION, account.id)?.availableCents).to.equal(10_500);
  });

  it("works without an account at the rail, for the second person", () => {
    const decision = decide({}, recordDeposits(ORGANIZATION, [{ receipt: "d1" }]));
    expect(proposedContent(decision)).to.include('"name":"recordDeposits"');
  });

  it("refuses what the book cannot hold, whole", () => {
    const command = recordDeposits(ORGANIZATION, [{ receipt: "d1" }, { receipt: "d2" }]);
    const cents = MAX_SUM_CENTS - 500;
    const sums = { reserve: cents, shortfall: 0, charges: 0, available: 0, held: 0, unallocated: cents };
    const full = { ...rows, books: [givenHead({ sums })] };
    const refusal = { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS };
    expectRefused(decide(full, command), refusal);
  });

  it("throws for fewer ids than pay-ins", () => {
    const command = recordDeposits(ORGANIZATION, [{ receipt: "d1" }], { facts: { ofParts: [] } });
    expect(() => decide(rows, command)).to.throw("no ids for its part 0");
  });
});

describe("who may record the deposits of a lost night", () => {
  const two = [
    { receipt: "d1", reference: own, amountCents: toCents(6_000) },
    { receipt: "d2", reference: own, amountCents: toCents(4_000) },
  ];

  it("lets one person do what is within the amount together, and counts each deposit", () => {
    const effect = effectOf(decide(rows, recordDeposits(ORGANIZATION, two, { person: "amina" })));
    expect(effect.entries.map(({ alone }) => alone?.cents)).to.deep.equal([6_000, undefined, 10_000, undefined]);
  });

  it("counts on from what the person did alone that day", () => {
    const sum = { organizationId: ORGANIZATION, person: "amina" as never, cents: 500, at: NOW };
    const effect = effectOf(
      decide({ ...rows, aloneSums: [sum] }, recordDeposits(ORGANIZATION, two, { person: "amina" })),
    );
    expect(effect.entries.map(({ alone }) => alone?.cents)).to.deep.equal([6_500, undefined, 10_500, undefined]);
  });

  for (const [isPreview, dryRun, aloneMaxCents, needsSecondPerson] of [
    [true, true, 10_000, false],
    [true, true, 9_999, true],
    [true, false, 9_999, undefined],
    [false, true, 9_999, undefined],
  ] as const) {
    it(`is ${isPreview ? "" : "no "}preview ${dryRun ? "in" : "outside"} a dry run up to ${String(aloneMaxCents)} cents`, () => {
      const lone = [railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(aloneMaxCents) })];
      const command = { ...recordDeposits(ORGANIZATION, two, { person: "amina" }), isPreview, dryRun };
      const decision = decide({ ...rows, railAccounts: lone }, command);
      const { resource, proposal, ...told } = (decision as { resource: Acted<RecordedDeposits> }).resource;
      // Only a preview says what would be done although it takes another person.
      expect(resource?.recorded.length).to.equal(needsSecondPerson === undefined ? undefined : 2);
      expect(proposal === undefined).to.equal(needsSecondPerson !== undefined);
      expect(told.needsSecondPerson).to.equal(needsSecondPerson);
    });
  }

  it("needs a second person one cent above the amount together, though each alone is within it", () => {
    const more = [...two, { receipt: "d3", amountCents: toCents(1) }];
    const proposing = decide(rows, recordDeposits(ORGANIZATION, more, { person: "amina" }));
    expect((proposing as { resource: Acted<unknown> }).resource.proposal?.person).to.equal("amina");
    const content = proposedContent(proposing);
    const proposal = givenProposal({ content, person: "amina" as Decider, expiresAt: toUnixMillis(NOW + 1_000) });
    const approving = (given: Partial<Loaded>) =>
      decide(
        { ...rows, proposals: [proposal satisfies Proposal], ...given },
        asShown(
          recordDeposits(ORGANIZATION, more, {
            authority: { ...ALONE, person: "brian" as Decider, approves: proposal.id },
          }),
          content,
        ),
      );
    const effect = effectOf(approving({}));
    expect(effect.entries.map(({ kind, actor, alone }) => [kind, actor, alone])).to.deep.equal([
      ["deposit.received", "amina,brian", undefined],
      ["transaction.completed", "amina,brian", undefined],
      ["deposit.received", "amina,brian", undefined],
      ["transaction.completed", "amina,brian", undefined],
      ["deposit.received", "amina,brian", undefined],
      ["book.proposal_approved", "amina,brian", undefined],
    ]);
    // A report that comes between the two takes its receipt out of the act, and not the act away.
    const known = givenDeposit({ rail: SLOW_RAIL });
    const receipt = { organizationId: ORGANIZATION, receipt: known.receipt, transactionId: undefined };
    const rest = effectOf(approving({ deposits: [known], receipts: [{ ...receipt, depositId: known.id }] }));
    expect(rest.entries).to.have.length(4);
  });
});
