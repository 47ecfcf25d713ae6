import * as z from "zod";

import { parseBankAccount, parseBankCode, parseBranchCode, parseHolder } from "../../domain/destination.js";
import { type Cents, parseAmount } from "../../domain/values/cents.js";
import type { Parsed } from "../../domain/values/parsed.js";
import { parseName } from "../../domain/values/text.js";

const FILE_FORMS = ["pain.001.001.09", "pain.001.001.03", "csv"] as const;

/** What a column of a table can have. */
export const COLUMN_VALUES = [
  "reference",
  "amount",
  "currency",
  "day",
  "holder",
  "account",
  "bank_code",
  "branch_code",
  "bank_and_branch_code",
  "payer_account",
] as const;
export type ColumnValue = (typeof COLUMN_VALUES)[number];

/** Without one of these a bank does not know what to pay, or a statement what was paid. */
const NEEDED: readonly ColumnValue[] = ["reference", "amount", "account"];
const COLUMNS_MAX = 40;
const BIC = /^[A-Z]{4}KE[0-9A-Z]{2}([0-9A-Z]{3})?$/;
const CUSTOMER_ID = /^[0-9A-Za-z/-]{1,35}$/;

/** Takes a text that one of the domain's parsers takes. */
function checked<Value>(parse: (unchecked: string) => Parsed<Value>) {
  return z
    .string({ error: ({ input }) => (input === undefined ? "is missing" : "must be a text in quotes") })
    .transform((given, context): Value => {
      const read = parse(given);
      if (read.ok) return read.value;
      context.addIssue(read.problem);
      return z.NEVER;
    });
}

const column = z
  .strictObject(
    {
      name: checked<string>(parseName),
      value: z.enum(COLUMN_VALUES, `must be one of ${COLUMN_VALUES.join(", ")}`).optional(),
      text: checked<string>(parseName).optional(),
    },
    "must have name, and value or text",
  )
  .refine(({ value, text }) => (value === undefined) !== (text === undefined), "must have value, or text in its place");

const columns = z
  .array(column, "must be a list of columns")
  .max(COLUMNS_MAX, `must have at most ${String(COLUMNS_MAX)} columns`)
  .refine(
    (given) => NEEDED.every((needed) => given.some(({ value }) => value === needed)),
    `must have columns with ${NEEDED.join(", ")}`,
  )
  .refine(
    (given) => new Set(given.map(({ name }) => name.toLowerCase())).size === given.length,
    "must have columns whose names differ",
  );

const limits = z
  .strictObject({ min: checked<Cents>(parseAmount), max: checked<Cents>(parseAmount) }, "must have min and max")
  .refine(({ min, max }) => min <= max, "must have a min that is not above max");

/** The settings of an account at a bank. They hold no secret. */
export const SETTINGS = z
  .strictObject({
    /** The place of the reserve whose statements show the payments, such as "KCB 1234". */
    place: checked<string>(parseName),
    bankCode: checked(parseBankCode),
    branchCode: checked(parseBranchCode),
    account: checked(parseBankAccount),
    /** The organization, as the bank calls it. */
    holder: checked(parseHolder),
    bic: z.string("must be a text in quotes").regex(BIC, "must be a BIC of Kenya, such as KCBLKENX").optional(),
    /** The customer's number at the bank, if the bank wants it in the file. */
    customerId: z
      .string("must be a text in quotes")
      .regex(CUSTOMER_ID, "must be 1 to 35 letters, digits, / and -")
      .optional(),
    form: z.enum(FILE_FORMS, `must be one of ${FILE_FORMS.join(", ")}`),
    columns: columns.optional(),
    limits,
  })
  .refine(({ form, columns: given }) => (form === "csv") === (given !== undefined), {
    error: "must be given with the form csv, and with it alone",
    path: ["columns"],
  })
  .superRefine(({ form, ...given }, context) => {
    for (const name of ["bic", "customerId"] as const) {
      if (form === "csv" && given[name] !== undefined) {
        context.addIssue({
          code: "custom",
          message: "must be absent with the form csv: a table has none",
          path: [name],
        });
      }
    }
  });

export type BankSettings = z.output<typeof SETTINGS>;
