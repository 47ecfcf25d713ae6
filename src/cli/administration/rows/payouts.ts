import { DEADLINE_SECONDS_MAX, DEADLINE_SECONDS_MIN } from "../../../domain/payout-check.js";
import { wholeNumber } from "../../commands/arguments.js";
import { textOf } from "../../commands/output.js";
import { payoutListLines, previewLines } from "../payout-preview.js";
import type { MessageJson } from "../row.js";
import { itemsOf } from "../session.js";
import type { CommandRows } from "./written.js";

/** The commands of `kesc payouts` about files that were proposed. */
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
      PROBLEM: "problem",
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
    request: () => ({ fields: { count_rows: true } }),
    done: ({ payouts, preview, row_counts: counts }) => {
      const { state, problem, sha256 } = payouts as MessageJson;
      const rows = itemsOf(counts).map((each) => `${textOf(each["count"])} ${textOf(each["state"]).replace("_", " ")}`);
      return [
        ...previewLines(preview as MessageJson),
        state === "proposed" ? "Nobody has approved it yet." : `It is ${textOf(state)}. Rows: ${rows.join(", ")}.`,
        ...(problem === null ? [] : [`ITS ROWS WAIT: ${textOf(problem)}`]),
        ...(state === "running"
          ? [`To pay no more of it: kesc payouts stop ${textOf(sha256)} --org ORG --note TEXT`]
          : []),
        `What became of each row: kesc payouts outcomes ${textOf(sha256)} --org ORG`,
      ].join("\n");
    },
  },
  "payouts show-list": {
    description: "show what the list of those to whom payouts are held has, since when, and by whom",
    rpc: "GetPayoutList",
    shows: null,
    onlyReads: true,
    examples: ['--org "Acme"'],
    parameters: ["--org"],
    done: ({ payout_list: list }) =>
      list === null
        ? "There is no list. Set one: kesc payouts set-list FILE --org ORG --note TEXT"
        : payoutListLines(list as MessageJson).join("\n"),
  },
  "payouts stop": {
    description: "stop a file that is paid: its other rows are refused, and nobody needs to approve that",
    rpc: "StopFile",
    examples: [`${"0".repeat(64)} --org "Acme" --note "the amounts are those of October"`],
    parameters: [
      { flags: "<sha256>", help: "the SHA-256 of the file", field: "sha256", required: true },
      "--org",
      "--note",
    ],
    done: "Stopped. No more rows are paid; those that were accepted stay: kesc payouts show {<sha256>} --org ORG",
    unchanged: "The file was stopped before.",
  },
  "payouts set-check": {
    description: "set a service of the organization that is asked before each payout leaves",
    rpc: "SetPayoutCheck",
    examples: [
      '--org "Acme" --url https://checks.example.com/payouts --deadline 60 --silence hold --note "the rules of 2026"',
    ],
    parameters: [
      "--org",
      { flags: "--url <url>", help: "https address of the service, without a query", field: "url", required: true },
      {
        flags: "--deadline <seconds>",
        help: "how long the service has for its answer: 15 to 3600 seconds",
        field: "deadline_seconds",
        required: true,
        parse: wholeNumber({ min: DEADLINE_SECONDS_MIN, max: DEADLINE_SECONDS_MAX }),
      },
      {
        flags: "--silence <word>",
        help: "what it means that no answer comes: hold (two persons decide) or allow (it is paid)",
        field: "no_answer",
        required: true,
      },
      { flags: "--new-secret", help: "make another secret although nothing else changes", field: "new_secret" },
      "--note",
    ],
    done: "Set. Each new payout waits for {url}. The secret for an admin: kesc payouts show-check --org ORG",
    unchanged: "The check was set so before.",
  },
  "payouts show-check": {
    description: "show the service that is asked before each payout leaves, and to an admin its secret",
    rpc: "GetPayoutCheck",
    onlyReads: true,
    examples: ['--org "Acme"'],
    parameters: ["--org"],
    done: ({ url, deadline_seconds: seconds, no_answer: word, set_at: at, secret }) =>
      [
        `${textOf(url)} is asked before each payout, since ${textOf(at)}.`,
        `Without an answer in ${textOf(seconds)} seconds: ${textOf(word)}.`,
        ...(secret === null ? [] : [`Its secret: ${textOf(secret)}`]),
      ].join("\n"),
  },
  "payouts clear-check": {
    description: "ask no service before payouts any more; what waits for its answer is held for two persons",
    rpc: "ClearPayoutCheck",
    examples: ['--org "Acme" --note "the list has the names"'],
    parameters: ["--org", "--note"],
    shows: null,
    done: "Cleared. New payouts are not checked.",
    unchanged: "There is no check.",
  },
  "payouts test-check": {
    description: "ask the service once about a payout that is none",
    rpc: "TestPayoutCheck",
    examples: ['--org "Acme"'],
    parameters: ["--org"],
    shows: null,
    done: ({ answer, code, problem }) =>
      problem === null
        ? `It answered ${textOf(answer)}${code === null ? "" : ` (${textOf(code)})`}.`
        : `IT DID NOT ANSWER: ${textOf(problem)}.`,
  },
};
