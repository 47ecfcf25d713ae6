import { REVEAL_REASONS } from "../../../domain/reveal.js";
import { type Row, textOf } from "../row.js";
import { ACCOUNT, NOTE, OWNER } from "./parameters.js";

/** What operators see and change of users, beside the calls with a key of the organization. */
export const ACCOUNT_ROWS: readonly Row[] = [
  {
    path: "account reveal",
    description: "show the phone number and the e-mail address of an account's user; the book notes who looked and why",
    rpc: "RevealAccount",
    parameters: [
      ACCOUNT,
      OWNER,
      {
        flags: "--reason <reason>",
        help: `why: ${REVEAL_REASONS.join(", ")}`,
        field: "reason",
        required: true,
        parse: (text) => text.toLowerCase(),
      },
      NOTE,
    ],
    shows: undefined,
    done: ({ phone_number: phone, email }) =>
      [`Phone number: ${textOf(phone)}`, `E-mail address: ${textOf(email) || "none"}`].join("\n"),
    adviceOnLoss: "To see it, reveal it again. That is another row of the book.",
  },
  {
    path: "account export",
    description: "print everything that is stored about an account's user",
    rpc: "ExportAccount",
    parameters: [ACCOUNT, OWNER],
    parts: { account: "account", freezes: "freeze", transactions: "transaction", journal_rows: "journal" },
  },
];
