import { basename } from "node:path";

import { create, toBinary } from "@bufbuild/protobuf";

import { invocation } from "../../startup/invocation.js";
import { referenceTo } from "../administration/references.js";
import type { MessageJson } from "../administration/row.js";
import { type AdminSession, itemsOf } from "../administration/session.js";
import { printJson, printLine, textOf } from "../commands/output.js";

const BREAKS_FOUND = 1;
const PIECE_BYTES = 256 * 1_024;
const NAME_CHARACTERS_MAX = 255;

interface AtServer {
  readonly org: string;
  readonly rail: string;
  readonly file: string;
  readonly bytes: Buffer;
}

/** Lets a server compare a file. Resolves with its response, and with the organization's id. */
export async function compareAtServer(
  session: AdminSession,
  { org, rail, file, bytes }: AtServer,
): Promise<{ readonly organizationId: string; readonly found: MessageJson }> {
  const { id: organizationId } = await referenceTo(session, "organization", org);
  const fields = { organization_id: organizationId, rail, file_name: basename(file).slice(-NAME_CHARACTERS_MAX) };
  const found = await session.call("ReconcileStatement", fields, { more: piecesOf(session, bytes) });
  return { organizationId, found };
}

/** Prints what differs. The command exits with 1 if something does. */
export function reportAtServer(found: MessageJson, json: boolean): void {
  if (json) printJson(found);
  else for (const line of lines(found)) printLine(line);
  const isDoubtful = itemsOf(found["differences"]).length + (found["doubts"] as readonly string[]).length > 0;
  const tie = found["tie"] as MessageJson | null;
  if (isDoubtful || (tie !== null && Number(tie["not_explained"]) !== 0)) invocation().exitCode = BREAKS_FOUND;
}

function* piecesOf({ contract }: AdminSession, bytes: Buffer): Generator<Uint8Array, void, void> {
  const { input } = contract.rpc("ReconcileStatement");
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield toBinary(input, create(input, { statement: bytes.subarray(start, start + PIECE_BYTES) }));
  }
}

function lines(found: MessageJson): readonly string[] {
  const differences = itemsOf(found["differences"]);
  return [
    `From ${textOf(found["start"])} to ${textOf(found["end"])}:`,
    ...["matched", "on_rail", "booked", "charges", "charges_matched"].map((name) => `  ${name}: ${sums(found[name])}`),
    ...(found["doubts"] as readonly string[]).map((doubt) => `Doubtful: ${doubt}`),
    differences.length === 0 ? "All movements of this period agree." : "These differ:",
    ...differences.flatMap((group) => [
      `${textOf(group["kind"])}: ${textOf(group["count"])}`,
      ...itemsOf(group["differences"]).map(differenceLine),
    ]),
    ...tieLines(found["tie"] as MessageJson | null),
  ];
}

function sums(totals: unknown): string {
  const { count, amount_in: cameIn, amount_out: wentOut } = totals as MessageJson;
  return `${textOf(count)}, in ${textOf(cameIn)}, out ${textOf(wentOut)}`;
}

function differenceLine({ receipt, row_kind: kind, on_rail: rail, booked }: MessageJson): string {
  const amountOf = (side: unknown): string => (side === null ? "nothing" : textOf((side as MessageJson)["amount"]));
  const words = kind === null ? "" : ` (${textOf(kind)})`;
  return `  ${textOf(receipt ?? "no receipt")}${words}: the rail has ${amountOf(rail)}, the book ${amountOf(booked)}`;
}

function tieLines(tie: MessageJson | null): readonly string[] {
  if (tie === null) return ["No tie: the rail has not reported a balance yet."];
  const { time, difference, not_explained: unexplained } = tie;
  return [`The tie, at ${textOf(time)}: difference ${textOf(difference)}, not explained ${textOf(unexplained)}`];
}
