import type { CorrectBook } from "../../../src/domain/book/correct-book.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { parseIdempotencyKey } from "../../../src/domain/values/text.js";
import { buildByPerson, type ByPerson, type CommandOf } from "../commands.js";
import { givenTransaction } from "../given.js";
import { ORGANIZATION, receiptNamed, valid } from "../names.js";
import { account, byTwo, headWith, NOTHING_ALONE } from "./before.js";
import type { OperationRows } from "./row.js";

/** A correction of the book. `target` is the account, the receipt or the movement that it names. */
export function correctBook<Name extends CorrectBook["name"]>(
  name: Name,
  organizationId: OrganizationId,
  given: {
    amountCents: number;
    key: string;
    target?: string;
    account?: AccountId | undefined;
    direction?: "in" | "out";
  } & ByPerson,
): CommandOf<Name> {
  const { amountCents, key, target, account: accountId, direction = "out" } = given;
  const receipt = receiptNamed(target ?? "");
  const fields = {
    coverShortfall: {},
    recoverShortfall: { accountId: target },
    allocate: { accountId: target },
    returnUnallocated: { receipt },
    bookReceipt: { receipt },
    bookPayment: { receipt, accountId },
    adjustMovement: { movement: target ?? "r1", direction, accountId },
    explainTransfer: { receipt, direction },
    fundCharges: { receipt, direction },
  }[name];
  const own = { amountCents: amountCents as Cents, idempotencyKey: valid(parseIdempotencyKey(key)) };
  return buildByPerson(
    name,
    organizationId,
    { ...own, ...fields } as unknown as Parameters<typeof buildByPerson<Name>>[2],
    given,
  );
}

const shortOf = (shortfall: number) =>
  headWith({ sums: { reserve: 50_000, shortfall, charges: 0, available: 50_000, held: 0, unallocated: 50_000 } });
const rows = { ...NOTHING_ALONE, ...shortOf(20_000), accounts: [account] };
const lessShort = [shortOf(10_000), "shortfall", "200.00 KES", "100.00 KES"] as const;
const ADDED = "it is added to what stands, with a receipt or once for its key";
const moved = givenTransaction({ accountId: account.id, railReceipt: receiptNamed("r1") });
const ofAccount = { target: account.id };

/** What the second person is shown of `wanted`. */
const shown = (...more: readonly string[]) => ["amount:  > 100.00 KES", ...more];
const SHORTFALL = "shortfall: 200.00 KES > 100.00 KES";
const ACCOUNT = `account:  > ${account.id}`;
const OUT = "direction:  > out";

/** A correction of 100.00, with the receipt "r1" unless told otherwise. */
const wanted = (name: Parameters<typeof correctBook>[0], given: Partial<Parameters<typeof correctBook>[2]> = {}) =>
  correctBook(name, ORGANIZATION, { amountCents: 10_000, key: "c", target: "r1", ...given });

const SHORT_AND_BACK = [
  ...byTwo(wanted("coverShortfall", { key: "other" })),
  ...byTwo(wanted("bookPayment", { key: "back", target: "r9" })),
];

/** The corrections of a book. */
export const CORRECTIONS = {
  coverShortfall: {
    inSuspension: "everybody",
    example: ({ organizationId }) => correctBook("coverShortfall", organizationId, { amountCents: 50, key: "cover" }),
    proposed: {
      rows,
      command: wanted("coverShortfall"),
      shown: shown(SHORTFALL),
      changed: lessShort,
      thereAndBack: SHORT_AND_BACK,
    },
  },
  recoverShortfall: {
    inSuspension: "everybody",
    example: ({ organizationId, payerId: target }) =>
      correctBook("recoverShortfall", organizationId, { amountCents: 50, key: "recover", target }),
    proposed: {
      rows,
      command: wanted("recoverShortfall", ofAccount),
      shown: shown(SHORTFALL, ACCOUNT),
      changed: lessShort,
      thereAndBack: SHORT_AND_BACK,
    },
  },
  bookReceipt: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      correctBook("bookReceipt", organizationId, { amountCents: 300, key: "book", target: "r3" }),
    proposed: { rows, command: wanted("bookReceipt"), shown: shown("receipt:  > r1"), thereAndBack: ADDED },
  },
  bookPayment: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      correctBook("bookPayment", organizationId, { amountCents: 5, key: "paid", target: "r6" }),
    proposed: {
      rows,
      command: wanted("bookPayment", { account: account.id }),
      shown: shown(ACCOUNT, "receipt:  > r1"),
      thereAndBack: ADDED,
    },
  },
  adjustMovement: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      correctBook("adjustMovement", organizationId, { amountCents: 5, key: "adjust", target: "r3" }),
    proposed: {
      rows: { ...rows, transactions: [moved] },
      command: wanted("adjustMovement"),
      shown: shown("movement:  > r1", OUT),
      thereAndBack: [
        ...byTwo(wanted("adjustMovement", { key: "other" })),
        ...byTwo(wanted("adjustMovement", { key: "back", direction: "in" })),
      ],
    },
  },
  explainTransfer: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      correctBook("explainTransfer", organizationId, { amountCents: 5, key: "bank", target: "r7" }),
    proposed: { rows, command: wanted("explainTransfer"), shown: shown("receipt:  > r1", OUT), thereAndBack: ADDED },
  },
  fundCharges: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      correctBook("fundCharges", organizationId, { amountCents: 5, key: "fund", target: "r12" }),
    proposed: { rows, command: wanted("fundCharges"), shown: shown("receipt:  > r1", OUT), thereAndBack: ADDED },
  },
  allocate: {
    inSuspension: "everybody",
    example: ({ organizationId, payerId: target }) =>
      correctBook("allocate", organizationId, { amountCents: 100, key: "allocate", target }),
    proposed: { rows, command: wanted("allocate", ofAccount), shown: shown(ACCOUNT), thereAndBack: ADDED },
  },
  returnUnallocated: {
    inSuspension: "everybody",
    example: ({ organizationId }) =>
      correctBook("returnUnallocated", organizationId, { amountCents: 100, key: "return", target: "r4" }),
    proposed: { rows, command: wanted("returnUnallocated"), shown: shown("receipt:  > r1"), thereAndBack: ADDED },
  },
} satisfies Partial<OperationRows>;
