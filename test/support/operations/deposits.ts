import type { Deposit, TypedReference } from "../../../src/domain/deposit.js";
import type { PayIn } from "../../../src/domain/deposits/record-deposits.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import { type Cents, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, DepositId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { maskPhone } from "../../../src/domain/values/masked-phone.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { NO_REASON } from "../../../src/domain/values/text.js";
import { build, buildByPerson, type ByPerson, type CommandOf, type Given, newIds } from "../commands.js";
import { givenDeposit, givenTransaction } from "../given.js";
import { depositReference, NOW, ORGANIZATION, RAIL_TERMS, receiptNamed, SLOW_RAIL } from "../names.js";
import { account, byTwo, NOTHING_ALONE } from "./before.js";
import type { OperationRows } from "./row.js";

/** Shillings that the slow rail lists: 5.00 with the receipt "d1", and nothing typed. */
export function receiveDeposit(
  organizationId: OrganizationId,
  given: Omit<Given<"receiveDeposit">, "receipt" | "typedReference"> & { receipt?: string; typed?: string } = {},
): CommandOf<"receiveDeposit"> {
  const { receipt = "d1", typed = "", ...others } = given;
  return build("receiveDeposit", organizationId, {
    ...newIds(),
    rail: SLOW_RAIL,
    railAccountId: RAIL_TERMS.railAccountId,
    receipt: receiptNamed(receipt),
    amountCents: toCents(500),
    typedReference: typed as TypedReference,
    orderId: undefined,
    confirmedReceipts: [],
    phone: undefined,
    paidAt: undefined,
    ...others,
  });
}

/** Records 5.00 with the receipt "d1", for no account. */
export function recordDeposit(
  organizationId: OrganizationId,
  given: Omit<Given<"recordDeposit">, "receipt"> & { receipt?: string } & ByPerson = {},
): CommandOf<"recordDeposit"> {
  const { receipt: named = "d1", person, ...others } = given;
  const fields = { facts: newIds(), receipt: receiptNamed(named), amountCents: toCents(500), accountId: undefined };
  return buildByPerson("recordDeposit", organizationId, { ...fields, ...others }, { person });
}

/** Records pay-ins of the slow rail: 5.00 each without a reference, if nothing else is given. */
export function recordDeposits(
  organizationId: OrganizationId,
  payIns: readonly (Partial<Omit<PayIn, "receipt">> & { readonly receipt: string })[],
  { person, ...given }: Given<"recordDeposits"> & ByPerson = {},
): CommandOf<"recordDeposits"> {
  const fields = {
    facts: { ofParts: payIns.map(newIds) },
    rail: SLOW_RAIL,
    payIns: payIns.map(({ receipt, ...others }): PayIn => {
      return { amountCents: toCents(500), reference: "NONE", ...others, receipt: receiptNamed(receipt) };
    }),
  };
  return buildByPerson("recordDeposits", organizationId, { ...fields, ...given }, { person });
}

export function assignDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  accountId: AccountId,
  by: ByPerson = {},
): CommandOf<"assignDeposit"> {
  return buildByPerson("assignDeposit", organizationId, { facts: newIds(), depositId, accountId }, by);
}

/** Takes back the credit that the mint has made. */
export function unassignDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  transactionId: TransactionId,
  by: ByPerson = {},
): CommandOf<"unassignDeposit"> {
  return buildByPerson("unassignDeposit", organizationId, { facts: newIds(), depositId, transactionId }, by);
}

export function returnDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  receipt = "back1",
  by: ByPerson = {},
): CommandOf<"returnDeposit"> {
  return buildByPerson("returnDeposit", organizationId, { depositId, receipt: receiptNamed(receipt) }, by);
}

/** Wants the rail to return a deposit. */
export function returnThroughRail(
  organizationId: OrganizationId,
  depositId: DepositId,
  by: ByPerson = {},
): CommandOf<"returnDeposit"> {
  return buildByPerson("returnDeposit", organizationId, { depositId, receipt: undefined }, by);
}

/** Ends the return of a deposit: with a receipt, the rail has returned it. */
export function endReturn(
  { organizationId, id: depositId, updatedAt: begunAt }: Pick<Deposit, "organizationId" | "id" | "updatedAt">,
  named?: string,
): CommandOf<"endReturn"> {
  const receipt = named === undefined ? undefined : receiptNamed(named);
  const end = build("endReturn", organizationId, { depositId, begunAt, receipt, reason: NO_REASON });
  return { ...end, actor: "mpesa" as Actor };
}

/** Reverses a deposit, and the mint that has credited it, if there is one. */
export function reverseDeposit(
  organizationId: OrganizationId,
  depositId: DepositId,
  given: { transactionId?: TransactionId | undefined; receipt?: string } & ByPerson = {},
): CommandOf<"reverseDeposit"> {
  const { transactionId, receipt = "back1", person } = given;
  const fields = { facts: newIds(), depositId, transactionId, receipt: receiptNamed(receipt) };
  return buildByPerson("reverseDeposit", organizationId, fields, { person });
}

/** A charge of 0.05 for the movement with the receipt "r1". */
export function recordCharge(
  organizationId: OrganizationId,
  { movement = "r1", ...given }: Omit<Given<"recordCharge">, "movement"> & { movement?: string } = {},
): CommandOf<"recordCharge"> {
  const fields = { direction: "out", amountCents: 5 as Cents, movement: receiptNamed(movement) } as const;
  return build("recordCharge", organizationId, { ...fields, ...given });
}

const deposit = givenDeposit();
const mint = givenTransaction({ accountId: account.id, depositId: deposit.id, amountCents: toCents(500) });
const credited = {
  ...deposit,
  status: "CREDITED",
  reason: undefined,
  accountId: account.id,
  transactionId: mint.id,
  credits: 1,
} as const;
const returnFailed = { ...deposit, reason: "RETURN_FAILED" } as const;
const ASSIGNED = ["amount: 5.00 KES > 5.00 KES", `account:  > ${account.id}`];
const RETURNED_AND_BACK = [
  ...byTwo(returnThroughRail(ORGANIZATION, deposit.id)),
  endReturn({ ...deposit, updatedAt: NOW }),
];

/** The operations on deposits, and on the charges of a rail. */
export const ON_DEPOSITS = {
  receiveDeposit: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      receiveDeposit(organizationId, {
        receipt: "r8",
        typed: "tomatoes",
        phone: maskPhone("+254712345678" as PhoneNumber),
        paidAt: NOW,
      }),
  },
  assignDeposit: {
    inSuspension: "everybody",
    example: ({ organizationId, payerId, of }) =>
      assignDeposit(organizationId, of("receiveDeposit").newDepositId, payerId),
    proposed: {
      rows: { ...NOTHING_ALONE, deposits: [deposit], accounts: [account] },
      command: assignDeposit(ORGANIZATION, deposit.id, account.id),
      shown: ["deposit: unallocated: no reference > credited", ...ASSIGNED],
      changed: [
        { deposits: [{ ...deposit, reason: "UNASSIGNED", credits: 1 }] },
        "deposit",
        "unallocated: no reference",
        "unallocated: unassigned",
      ],
      thereAndBack: RETURNED_AND_BACK,
    },
    alsoProposed: [
      {
        about: "after a return that failed",
        rows: { ...NOTHING_ALONE, deposits: [returnFailed], accounts: [account] },
        command: assignDeposit(ORGANIZATION, deposit.id, account.id),
        shown: ["deposit: unallocated: return failed > credited", ...ASSIGNED],
        thereAndBack: RETURNED_AND_BACK,
      },
    ],
  },
  unassignDeposit: {
    inSuspension: "everybody",
    example: ({ organizationId, of }) =>
      unassignDeposit(organizationId, of("receiveDeposit").newDepositId, of("assignDeposit").facts.newTransactionId),
    proposed: {
      rows: { ...NOTHING_ALONE, deposits: [credited], accounts: [account], transactions: [mint] },
      command: unassignDeposit(ORGANIZATION, deposit.id, mint.id),
      shown: [
        "deposit: credited > unallocated",
        "amount: 5.00 KES > 5.00 KES",
        `account: ${account.id} > `,
        "credits so far: 1 > 1",
      ],
      thereAndBack: "it names one credit, which ends once",
    },
  },
  returnDeposit: {
    inSuspension: "everybody",
    example: ({ organizationId, of }) => returnThroughRail(organizationId, of("receiveDeposit").newDepositId),
    proposed: {
      rows: { ...NOTHING_ALONE, deposits: [deposit] },
      command: returnDeposit(ORGANIZATION, deposit.id),
      shown: [
        "deposit: unallocated: no reference > returned to the payer",
        "amount: 5.00 KES > 5.00 KES",
        "receipt:  > back1",
      ],
      changed: [{ deposits: [returnFailed] }, "deposit", "unallocated: no reference", "unallocated: return failed"],
      thereAndBack: RETURNED_AND_BACK,
    },
    alsoProposed: [
      {
        about: "by its rail",
        rows: { ...NOTHING_ALONE, deposits: [deposit] },
        command: returnThroughRail(ORGANIZATION, deposit.id),
        shown: ["deposit: unallocated: no reference > returning: the rail is asked", "amount: 5.00 KES > 5.00 KES"],
      },
    ],
  },
  endReturn: {
    inSuspension: "everybody",
    notRandom: "no rail returns deposits there: test/settlement/deposits/returns.test.ts has it",
    example: ({ organizationId, of }) =>
      endReturn({ organizationId, id: of("receiveDeposit").newDepositId, updatedAt: NOW }, "r10"),
  },
  recordDeposit: {
    inSuspension: "everybody",
    example: ({ organizationId, payerId }) => recordDeposit(organizationId, { receipt: "r9", accountId: payerId }),
    proposed: {
      rows: { ...NOTHING_ALONE, accounts: [account] },
      command: recordDeposit(ORGANIZATION, { accountId: account.id }),
      shown: ["deposit:  > credited", "amount:  > 5.00 KES", `account:  > ${account.id}`, "receipt:  > d1"],
      thereAndBack: "it is new",
    },
    alsoProposed: [
      {
        about: "of nobody",
        rows: NOTHING_ALONE,
        command: recordDeposit(ORGANIZATION),
        shown: ["deposit:  > unallocated", "amount:  > 5.00 KES", "receipt:  > d1"],
      },
    ],
  },
  recordDeposits: {
    repeated: "parts that are replays",
    inSuspension: "everybody",
    notRandom: "test/storage/lost-night.test.ts has acts of several parts",
    example: ({ organizationId }) =>
      recordDeposits(organizationId, [
        { receipt: "r13", reference: depositReference(0) },
        { receipt: "r14" },
        { receipt: "r15", reference: depositReference(0) },
      ]),
    proposed: {
      rows: { ...NOTHING_ALONE, accounts: [account] },
      command: recordDeposits(ORGANIZATION, [{ receipt: "d1" }]),
      shown: ["pay-ins:  > 1 of mpesa, together 5.00 KES", "d1:  > 5.00 KES, without a reference"],
      thereAndBack: "a receipt that the book has meanwhile is passed over",
    },
    alsoProposed: [
      {
        about: "of several",
        rows: { ...NOTHING_ALONE, accounts: [account] },
        command: recordDeposits(ORGANIZATION, [
          { receipt: "d1", reference: depositReference(0), amountCents: toCents(700) },
          { receipt: "d2", reference: "UNREADABLE" },
        ]),
        shown: [
          "pay-ins:  > 2 of mpesa, together 12.00 KES",
          `d1:  > 7.00 KES, for ${depositReference(0)}`,
          "d2:  > 5.00 KES, for no account",
        ],
      },
    ],
  },
  reverseDeposit: {
    inSuspension: "everybody",
    example: ({ organizationId, of }) => {
      const { newDepositId, newTransactionId: transactionId } = of("recordDeposit").facts;
      return reverseDeposit(organizationId, newDepositId, { transactionId, receipt: "r11" });
    },
    proposed: {
      rows: { ...NOTHING_ALONE, deposits: [deposit] },
      command: reverseDeposit(ORGANIZATION, deposit.id),
      shown: [
        "deposit: unallocated: no reference > reversed: the rail took it back",
        "amount: 5.00 KES > 5.00 KES",
        "receipt:  > back1",
      ],
      changed: [
        { deposits: [{ ...deposit, status: "RETURNING", reason: undefined }] },
        "deposit",
        "unallocated: no reference",
        "returning",
      ],
      thereAndBack: RETURNED_AND_BACK,
    },
  },
  recordCharge: {
    inSuspension: "everybody",
    example: ({ organizationId }) => recordCharge(organizationId, { movement: "r3" }),
  },
} satisfies Partial<OperationRows>;
