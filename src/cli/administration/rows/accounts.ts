import type { Row } from "../row.js";
import { ACCOUNT, OWNER } from "./parameters.js";

/** What is read of accounts, beside the calls with a key of the organization. */
export const ACCOUNT_ROWS: readonly Row[] = [
  {
    path: "account export",
    description: "print everything that is stored about an account's user",
    rpc: "ExportAccount",
    parameters: [ACCOUNT, OWNER],
    parts: { account: "account", freezes: "freeze", transactions: "transaction", journal_rows: "journal" },
  },
];
