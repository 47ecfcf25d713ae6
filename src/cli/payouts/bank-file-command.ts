import { writeFileSync } from "node:fs";

import type { Command } from "commander";

import { UsageError } from "../../startup/operator-error.js";
import { referenceTo } from "../administration/references.js";
import type { MessageJson } from "../administration/row.js";
import { serverOf, withSession } from "../administration/session.js";
import { statusReason } from "../commands/arguments.js";
import { printLine, textOf } from "../commands/output.js";
import { giveExamples } from "../examples.js";
import { endRefused } from "./bank-status.js";

interface DownloadOptions {
  readonly org: string;
  readonly out?: string;
  readonly server?: string;
}

/** Only its owner may read a payment file: it names payees and accounts in full. */
const OWNER_ONLY = 0o600;

/** Adds the commands of `kesc bank-file` that write or read a file. */
export function addBankFile(bankFile: Command): void {
  const download = bankFile
    .command("download")
    .description("write a payment file as the bank gets it, always the same bytes; each download is a row of the book")
    .argument("<id>", "the name of the file, as kesc bank-file list shows it")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--out <file>", "where to write it (default: its name, in this folder)")
    .option("--server <address>", "AdminService, with the key in KESC_OPERATOR_KEY (default: KESC_OPERATOR_SERVER)")
    .action(downloadFile);
  giveExamples(download, ['bank-file download KB0123456789ABCDEF01234567 --org "Acme"']);
  const status = bankFile
    .command("status")
    .description("read what the bank says of a file (pain.002), and end the payments that it refuses as failed")
    .argument("<file>", "the status report, in XML")
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--note <text>", "why, for the book; no personal data", statusReason)
    .option("--yes", "do it")
    .option("--server <address>", "AdminService, with the key in KESC_OPERATOR_KEY (default: KESC_OPERATOR_SERVER)")
    .action(endRefused);
  giveExamples(status, ['bank-file status report.xml --org "Acme" --note "pain.002 of 1 December" --yes']);
}

async function downloadFile(id: string, { org, out, ...place }: DownloadOptions): Promise<void> {
  if (serverOf(place) === undefined) {
    throw new UsageError("Only a server gives a payment file. Name it with --server or KESC_OPERATOR_SERVER.");
  }
  await withSession(place, async (session) => {
    const { id: organization_id } = await referenceTo(session, "organization", org);
    const found = await session.call("DownloadBankFile", { organization_id, bank_file_id: id });
    const file = out ?? textOf(found["file_name"]);
    // A file that is there is not replaced: it may be another bank's, or edited.
    writeFileSync(file, Buffer.from(textOf(found["content"]), "base64"), { flag: "wx", mode: OWNER_ONLY });
    const { count, amount, sha256 } = found["bank_file"] as MessageJson;
    printLine(`Wrote ${file}: ${textOf(count)} payments, together ${textOf(amount)} KES. SHA-256 ${textOf(sha256)}`);
  });
}
