import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { buildByPerson, type CommandOf, type Given } from "../commands.js";
import { ORGANIZATION, SLOW_RAIL } from "../names.js";
import type { OperationRows } from "./row.js";

/** Lets two rows of a file be paid. */
export function payFile(organizationId: OrganizationId, given: Given<"payFile"> = {}): CommandOf<"payFile"> {
  const hashes = { sha256: "a".repeat(64), rowsSha256: "b".repeat(64) };
  const file = { ...hashes, rail: SLOW_RAIL, rows: 2, amountCents: toCents(41_050_100), leftOut: 1 };
  return buildByPerson("payFile", organizationId, { ...file, ...given });
}

/** Stops that file. */
export function stopFile(organizationId: OrganizationId, given: Given<"stopFile"> = {}): CommandOf<"stopFile"> {
  return buildByPerson("stopFile", organizationId, { sha256: "a".repeat(64), ...given });
}

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
  stopFile: { example: ({ organizationId }) => stopFile(organizationId) },
} satisfies Partial<OperationRows>;
