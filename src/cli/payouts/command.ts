import { create, toBinary } from "@bufbuild/protobuf";
import type { Command } from "commander";

import { csvRows, Digits } from "../../../runtime/csv.js";
import { PAYOUT_ROWS_MAX } from "../../domain/payout-file.js";
import { invocation } from "../../startup/invocation.js";
import { UsageError } from "../../startup/operator-error.js";
import { payoutListLines, previewLines } from "../administration/payout-preview.js";
import { referenceTo } from "../administration/references.js";
import type { MessageJson } from "../administration/row.js";
import { type AdminSession, itemsOf, serverOf, withSession } from "../administration/session.js";
import { statusReason, wholeNumber } from "../commands/arguments.js";
import { printJson, printLine, textOf } from "../commands/output.js";
import { giveExamples } from "../examples.js";
import { bytesOf } from "../reconcile/statement-file.js";

const PIECE_BYTES = 256 * 1_024;
const PAGE = 1_000;
/** What a reader of the file of outcomes sees, in the order of the columns. */
const OUTCOME_COLUMNS = [
  "line",
  "state",
  "reason",
  "account_id",
  "amount",
  "reference",
  "description",
  "destination_id",
  "transaction_id",
  "rail_receipt",
] as const;
const NUMBERS: ReadonlySet<string> = new Set(["line", "amount"]);

interface SentPayouts {
  readonly org: string;
  readonly rail?: string;
  readonly leaveOut?: number;
  readonly note?: string;
  readonly server?: string;
  readonly json?: true;
}

/** Adds the commands of `kesc payouts` that no row of the table serves. */
export function addPayouts(payouts: Command): void {
  const preview = withPlace(payouts.command("preview"))
    .description("read a file of payouts, and say what it would pay: totals, errors, doubles; nothing is stored")
    .argument("<file>", "CSV or .xlsx with the columns account or user_id, amount, reference, description, destination")
    .option("--rail <rail>", "name of the rail that pays (default: the default rail)")
    .option("--json", "print JSON, for scripts")
    .action((file: string, options: SentPayouts) => sendFile(file, { ...options, preview: true }));
  giveExamples(preview, ['payouts preview november.csv --org "Acme"']);
  const propose = withPlace(payouts.command("propose"))
    .description("propose to pay the rows of a file; another person approves it, and then a server pays")
    .argument("<file>", "the file, as for preview")
    .requiredOption("--note <text>", "why, for the book; no personal data", statusReason)
    .option("--rail <rail>", "name of the rail that pays (default: the default rail)")
    .option(
      "--leave-out <count>",
      "the number of rows with an error, which are not paid",
      wholeNumber({ min: 0, max: PAYOUT_ROWS_MAX }),
    )
    .option("--json", "print JSON, for scripts")
    .action((file: string, options: SentPayouts) => sendFile(file, options));
  giveExamples(propose, ['payouts propose november.csv --org "Acme" --leave-out 4 --note "merchants, November"']);
  const outcomes = withPlace(payouts.command("outcomes"))
    .description("print what became of each row of a file, as CSV")
    .argument("<sha256>", "the SHA-256 of the file")
    .action(printOutcomes);
  giveExamples(outcomes, [`payouts outcomes ${"0".repeat(64)} --org "Acme"`]);
  addPayoutList(payouts);
}

function addPayoutList(payouts: Command): void {
  const set = withPlace(payouts.command("set-list"))
    .description("hold payouts to the accounts, numbers and names in a file, in place of the former list")
    .argument("<file>", "CSV or .xlsx with the columns kind and value, or some of account, number, name")
    .requiredOption("--note <text>", "why, for the book; no personal data", statusReason)
    .option("--json", "print JSON, for scripts")
    .action(sendList);
  giveExamples(set, ['payouts set-list sanctions.csv --org "Acme" --note "list of 30 November"']);
}

async function sendList(file: string, { org, note, json, ...place }: SentPayouts): Promise<void> {
  if (serverOf(place) === undefined) {
    throw new UsageError("Only a server reads lists. Name it with --server or KESC_OPERATOR_SERVER.");
  }
  const bytes = await bytesOf(file);
  await withSession(place, async (session) => {
    const { id: organization_id } = await referenceTo(session, "organization", org);
    const more = piecesOf(session, "SetPayoutList", bytes);
    const found = await session.call("SetPayoutList", { organization_id, note }, { more });
    if (json === true) {
      printJson(found);
      return;
    }
    const proposal = (found["proposal"] ?? null) as MessageJson | null;
    if (proposal !== null) {
      const [id, end] = [textOf(proposal["id"]), textOf(proposal["expires_at"])];
      printLine(
        `Proposed as ${id}, since entries end. The former list holds until another person approves it, until ${end}.`,
      );
      printLine(
        `That person runs: kesc proposal show ${id} --org ${JSON.stringify(org)}, and kesc proposal approve ${id}`,
      );
      return;
    }
    printLine(
      found["unchanged"] === true ? "The list is the same as before." : "Set. It holds from the next redemption on.",
    );
    for (const line of payoutListLines(found["payout_list"] as MessageJson)) printLine(line);
  });
}

function withPlace(command: Command): Command {
  return command
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--server <address>", "AdminService, with the key in KESC_OPERATOR_KEY (default: KESC_OPERATOR_SERVER)");
}

async function sendFile(
  file: string,
  { org, rail, leaveOut, note, json, preview = false, ...place }: SentPayouts & { readonly preview?: boolean },
): Promise<void> {
  if (serverOf(place) === undefined) {
    throw new UsageError("Only a server pays files. Name it with --server or KESC_OPERATOR_SERVER.");
  }
  const bytes = await bytesOf(file);
  await withSession(place, async (session) => {
    const { id: organization_id } = await referenceTo(session, "organization", org);
    const given = { rail, leave_out: leaveOut, note, preview };
    const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const found = await session.call(
      "PayFile",
      { organization_id, ...fields },
      { more: piecesOf(session, "PayFile", bytes) },
    );
    if (json === true) {
      printJson(found);
      return;
    }
    for (const line of previewLines(found["preview"] as MessageJson)) printLine(line);
    if (!preview) for (const line of endLines(found, org)) printLine(line);
    else if ((found["payouts"] ?? null) !== null) printLine(APPROVED_BEFORE);
  });
}

function* piecesOf({ contract }: AdminSession, rpc: string, bytes: Buffer): Generator<Uint8Array, void, void> {
  const { input } = contract.rpc(rpc);
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield toBinary(input, create(input, { file: bytes.subarray(start, start + PIECE_BYTES) }));
  }
}

const APPROVED_BEFORE = "The file was approved before, and is paid once.";

function endLines(found: MessageJson, org: string): readonly string[] {
  const proposal = (found["proposal"] ?? null) as MessageJson | null;
  const sha256 = textOf((found["preview"] as MessageJson)["sha256"]);
  if (proposal === null) {
    const words = found["unchanged"] === true ? APPROVED_BEFORE : "The file is paid.";
    return [words, `To see how far it is: kesc payouts show ${sha256} --org ${JSON.stringify(org)}`];
  }
  const id = textOf(proposal["id"]);
  return [
    `Proposed as ${id}. Nothing is paid until another person approves it, until ${textOf(proposal["expires_at"])}.`,
    `That person runs: kesc payouts show ${sha256} --org ${JSON.stringify(org)}, and kesc proposal approve ${id}`,
  ];
}

async function printOutcomes(sha256: string, { org, ...place }: SentPayouts): Promise<void> {
  await withSession({ ...place, onlyReads: true }, async (session) => {
    const { id: organization_id } = await referenceTo(session, "organization", org);
    const { stdout } = invocation();
    stdout.write(csvRows([OUTCOME_COLUMNS]));
    let page_token = "";
    do {
      const page = await session.call("ListPayoutRows", { organization_id, sha256, page_size: PAGE, page_token });
      stdout.write(csvRows(itemsOf(page["rows"]).map(cellsOf)));
      page_token = (page["next_page_token"] ?? "") as string;
    } while (page_token !== "");
  });
}

function cellsOf(row: MessageJson): readonly (string | Digits)[] {
  return OUTCOME_COLUMNS.map((name) => {
    const text = row[name] === null ? "" : textOf(row[name]);
    return NUMBERS.has(name) ? new Digits(text) : text;
  });
}
