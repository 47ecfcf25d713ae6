import { payoutListText } from "../../../src/domain/payout-list.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { listHashOf } from "../../../src/storage/secrets/payout-list.js";
import { buildByPerson, type CommandOf, type Given } from "../commands.js";
import { EARLIER, ORGANIZATION, SLOW_RAIL, TEST_ACTOR } from "../names.js";
import { headWith } from "./before.js";
import type { OperationRows } from "./row.js";

/** Lets two rows of a file be paid. */
export function payFile(organizationId: OrganizationId, given: Given<"payFile"> = {}): CommandOf<"payFile"> {
  const hashes = { sha256: "a".repeat(64), rowsSha256: "b".repeat(64) };
  const file = { ...hashes, rail: SLOW_RAIL, rows: 2, amountCents: toCents(41_050_100), leftOut: 1 };
  return buildByPerson("payFile", organizationId, { ...file, ...given });
}

/** Sets an empty list in place of none. */
export function setPayoutList(
  organizationId: OrganizationId,
  given: Given<"setPayoutList"> = {},
): CommandOf<"setPayoutList"> {
  const counts = { account: 0, number: 0, name: 0 };
  return buildByPerson("setPayoutList", organizationId, {
    hash: listHashOf(""),
    counts,
    replaces: "",
    ended: 0,
    ...given,
  });
}

/** Stops that file. */
export function stopFile(organizationId: OrganizationId, given: Given<"stopFile"> = {}): CommandOf<"stopFile"> {
  return buildByPerson("stopFile", organizationId, { sha256: "a".repeat(64), ...given });
}

const former = payoutListText({
  hash: "d".repeat(64),
  counts: { account: 0, number: 2, name: 0 },
  by: TEST_ACTOR,
  since: EARLIER,
});

/** The operations on files of payouts. */
export const ON_PAYOUTS = {
  payFile: {
    example: ({ organizationId }) => payFile(organizationId),
    proposed: {
      rows: {},
      command: payFile(ORGANIZATION),
      shown: [
        `SHA-256 of the file:  > ${"a".repeat(64)}`,
        "payouts:  > 2 over mpesa, together 410,501.00 KES",
        "rows with an error, which are not paid:  > 1",
      ],
      thereAndBack: "a file is paid once",
    },
    alsoProposed: [
      {
        about: "without an error",
        rows: {},
        command: payFile(ORGANIZATION, { leftOut: 0 }),
        shown: [`SHA-256 of the file:  > ${"a".repeat(64)}`, "payouts:  > 2 over mpesa, together 410,501.00 KES"],
      },
    ],
  },
  setPayoutList: {
    example: ({ organizationId }) => setPayoutList(organizationId),
    proposed: {
      rows: headWith({ payoutList: former }),
      command: setPayoutList(ORGANIZATION, { replaces: former, ended: 2 }),
      shown: [
        `list of payouts that are held: ${"d".repeat(64)} > ${listHashOf("")}`,
        "accounts: 0 > 0",
        "numbers: 2 > 0",
        "names: 0 > 0",
        "entries that end:  > 2",
      ],
      thereAndBack: "a list that was set since is refused: the text of each has its time",
    },
  },
  stopFile: { example: ({ organizationId }) => stopFile(organizationId) },
} satisfies Partial<OperationRows>;
