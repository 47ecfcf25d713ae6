import type { PayoutCheck } from "../../../src/domain/payout-check.js";
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

/** Sets a check that asks for at most a minute, and holds without an answer. */
export function setPayoutCheck(
  organizationId: OrganizationId,
  given: Given<"setPayoutCheck"> = {},
): CommandOf<"setPayoutCheck"> {
  const rules = { url: "https://checks.example.com/payouts", deadlineSeconds: 60, noAnswer: "HOLD" } as const;
  return buildByPerson("setPayoutCheck", organizationId, { ...rules, newSecret: false, ...given });
}

export function clearPayoutCheck(
  organizationId: OrganizationId,
  given: Given<"clearPayoutCheck"> = {},
): CommandOf<"clearPayoutCheck"> {
  return buildByPerson("clearPayoutCheck", organizationId, given);
}

/** The check that the row 9 of the book has set. */
export const STANDING_CHECK: PayoutCheck = {
  organizationId: ORGANIZATION,
  url: "https://checks.example.com/payouts",
  deadlineSeconds: 60,
  noAnswer: "HOLD",
  seq: 9,
  recordedAt: EARLIER,
};

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
  setPayoutCheck: {
    example: ({ organizationId }) => setPayoutCheck(organizationId),
    proposed: {
      rows: { payoutChecks: [STANDING_CHECK] },
      command: setPayoutCheck(ORGANIZATION, { noAnswer: "ALLOW", deadlineSeconds: 15 }),
      shown: [
        "service that is asked before each payout: https://checks.example.com/payouts > https://checks.example.com/payouts",
        "time for an answer: 60 seconds > 15 seconds",
        "without an answer: hold > allow",
        "set by row: 9 > a new one, with a new secret",
      ],
      changed: [{ payoutChecks: [{ ...STANDING_CHECK, seq: 10 }] }, "set by row", "9", "10"],
      thereAndBack: "the row that has set the check is shown",
    },
  },
  clearPayoutCheck: {
    example: ({ organizationId }) => clearPayoutCheck(organizationId),
    proposed: {
      rows: { payoutChecks: [STANDING_CHECK] },
      command: clearPayoutCheck(ORGANIZATION),
      shown: [
        "service that is asked before each payout: https://checks.example.com/payouts > ",
        "time for an answer: 60 seconds > ",
        "without an answer: hold > ",
        "set by row: 9 > ",
      ],
      changed: [{ payoutChecks: [{ ...STANDING_CHECK, seq: 10 }] }, "set by row", "9", "10"],
      thereAndBack: "the row that has set the check is shown",
    },
  },
} satisfies Partial<OperationRows>;
