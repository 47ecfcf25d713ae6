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
/** The states of a closing balance that no act needs to change. */
const RECORDED = new Set(["agrees", "later"]);

interface AtServer {
  readonly org: string;
  /** The fields that say whose statement it is. */
  readonly of: MessageJson;
  readonly file: string;
  readonly bytes: Buffer;
}

/** Lets a server compare a file. Resolves with its response, and with the organization's id. */
export async function compareAtServer(
  session: AdminSession,
  { org, of, file, bytes }: AtServer,
): Promise<{ readonly organizationId: string; readonly found: MessageJson }> {
  const { id: organizationId } = await referenceTo(session, "organization", org);
  const fields = { organization_id: organizationId, ...of, file_name: basename(file).slice(-NAME_CHARACTERS_MAX) };
  const found = await session.call("ReconcileStatement", fields, { more: piecesOf(session, bytes) });
  return { organizationId, found };
}

/** Prints what differs. The command exits with 1 if something does. */
export function reportAtServer(found: MessageJson, json: boolean): void {
  if (json) printJson(found);
  else for (const line of lines(found)) printLine(line);
  const isDoubtful = itemsOf(found["differences"]).length + (found["doubts"] as readonly string[]).length > 0;
  const tie = found["tie"] as MessageJson | null;
  const place = found["place"] as MessageJson | null;
  const closing = (place?.["closing"] ?? null) as MessageJson | null;
  const isUnrecorded = closing !== null && !RECORDED.has(textOf(closing["state"]));
  if (isDoubtful || isUnrecorded || (tie !== null && Number(tie["not_explained"]) !== 0))
    invocation().exitCode = BREAKS_FOUND;
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
    ...(found["place"] === null
      ? tieLines(found["tie"] as MessageJson | null)
      : placeLines(found["place"] as MessageJson)),
  ];
}

function placeLines({ place, source, account, closing, is_new: isNew }: MessageJson): readonly string[] {
  const { amount, day, state, recorded } = (closing ?? {}) as MessageJson;
  const figure = (recorded ?? {}) as MessageJson;
  const was = (recorded ?? null) === null ? "nothing" : `${textOf(figure["amount"])} on ${textOf(figure["as_of_day"])}`;
  return [
    `${textOf(place)}, receipts of ${textOf(source)}${account === null ? "" : `, account ${textOf(account)}`}:`,
    closing === null
      ? "  The file tells no closing balance, so none is compared."
      : `  closes with ${textOf(amount)} on ${textOf(day)} (${textOf(state)}): recorded was ${was}`,
    ...(isNew === true ? ["  No figure of this place was recorded yet."] : []),
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
