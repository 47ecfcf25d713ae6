import { textOf } from "../../commands/output.js";
import type { MessageJson } from "../row.js";
import type { CommandRows } from "./written.js";

const ID = {
  flags: "<id>",
  help: "the name of the file, as kesc bank-file list shows it",
  field: "bank_file_id",
  required: true,
} as const;

const EXAMPLE_ID = "KB0123456789ABCDEF01234567";
const TWO_PERSONS = "Two persons decide about a payment file";

/** The commands of `kesc bank-file` that write no file. */
export const BANK_FILE_ROWS: CommandRows = {
  "bank-file propose": {
    description: "propose to put the payments to banks that wait into one payment file; another person approves it",
    rpc: "CollectBankFile",
    needsOperator: TWO_PERSONS,
    examples: ['--org "Acme" --note "Tuesday"'],
    parameters: [
      "--org",
      { flags: "--day <day>", help: "when the bank pays, such as 2026-12-01 (default: today in Kenya)", field: "day" },
      "--note",
    ],
    done: ({ id, count, amount }) =>
      `${textOf(count)} payments, together ${textOf(amount)} KES, are in the file ${textOf(id)}. ` +
      `To get it: kesc bank-file download ${textOf(id)} --org ORG`,
    unchanged: "The file {id} was approved before.",
    proposed:
      "Its payments can be canceled until then. Whoever approves it sees their number, their sum and the SHA-256.",
  },
  "bank-file list": {
    description: "list the payment files that were approved, newest first",
    rpc: "ListBankFiles",
    examples: ['--org "Acme"'],
    parameters: ["--org"],
    items: ["bank_files"],
    columns: {
      ID: "id",
      DAY: "day",
      PAYMENTS: "count",
      AMOUNT: "amount",
      OPEN: "open_payments",
      DOWNLOADS: "downloads",
      STATE: (file: MessageJson) => (file["is_lost"] === true ? "lost" : "approved"),
      APPROVED: "approved_at",
    },
    none: "No payment file was approved yet. Propose one: kesc bank-file propose --org ORG --note TEXT",
    isLong: true,
  },
  "bank-file lost": {
    description: "mark a payment file as lost: nobody gets it any more, and its payments stay open",
    rpc: "ReportBankFileLost",
    needsOperator: TWO_PERSONS,
    examples: [`${EXAMPLE_ID} --org "Acme" --note "the stick is gone"`],
    parameters: [ID, "--org", "--note"],
    done: "The file {id} is lost. Its payments stay open until the bank's statement, or a person, says what became of each.",
    unchanged: "The file {id} was marked lost before.",
  },
};
