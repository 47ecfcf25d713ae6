import { textOf } from "../../commands/output.js";
import { previewLines } from "../payout-preview.js";
import type { MessageJson } from "../row.js";
import type { CommandRows } from "./written.js";

/** The commands of `kesc payouts` that read. */
export const PAYOUT_ROWS: CommandRows = {
  "payouts list": {
    description: "list the files of payouts that were approved, newest first",
    rpc: "ListPayouts",
    examples: ['--org "Acme"'],
    parameters: ["--org"],
    columns: {
      SHA256: "sha256",
      STATE: "state",
      RAIL: "rail",
      ROWS: "count",
      AMOUNT: "amount",
      DECIDED: "decided",
      REFUSED: "refused",
      APPROVED: "approved_at",
    },
    none: "No file of payouts was approved yet. Propose one: kesc payouts propose FILE --org ORG --note TEXT",
    isLong: true,
  },
  "payouts show": {
    description: "show a file of payouts as it was proposed, and how far its payment is",
    rpc: "GetPayouts",
    shows: null,
    onlyReads: true,
    examples: [`${"0".repeat(64)} --org "Acme"`],
    parameters: [{ flags: "<sha256>", help: "the SHA-256 of the file", field: "sha256", required: true }, "--org"],
    done: ({ payouts, preview }) => {
      const { state, decided, count, refused, sha256 } = payouts as MessageJson;
      const ended = `${textOf(decided)} of ${textOf(count)} rows decided, ${textOf(refused)} of them refused`;
      return [
        ...previewLines(preview as MessageJson),
        state === "proposed" ? "Nobody has approved it yet." : `It is ${textOf(state)}: ${ended}.`,
        `What became of each row: kesc payouts outcomes ${textOf(sha256)} --org ORG`,
      ].join("\n");
    },
  },
};
