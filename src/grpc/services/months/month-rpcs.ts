import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { CloseMonth } from "../../../domain/book/close-month.js";
import type { Closing } from "../../../domain/closing.js";
import { obstaclesOf } from "../../../domain/month-obstacles.js";
import { type Month, parseMonth, periodOfMonth } from "../../../domain/values/month.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { parseStatusReason } from "../../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import {
  type ClosedMonth as ClosedMonthMessage,
  type CloseMonthRequest,
  type CloseMonthResponse,
  ExportMonthRequest,
  ExportMonthResponse,
  type MonthStatement,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import type { MonthManifest } from "../../../months/manifest.js";
import { PackDiffersError, zipOf } from "../../../months/pack.js";
import { FILE_BYTES_MAX } from "../../../reconcile/files/tables.js";
import type { History } from "../../../statements/as-of.js";
import { isFinal } from "../../../statements/period.js";
import { organizationUpload } from "../../calls/admin-rpc.js";
import type { Caller } from "../../calls/call-context.js";
import type { EncodedMessages, RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { serverStream } from "../../calls/server-stream-call.js";
import { fieldProblem, joined, type ParsedFields, parseFields, parseItems } from "../../messages/fields.js";
import { parseFirst } from "../../messages/operators/statement-file.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { encode } from "../../messages/wire-format.js";
import { act } from "../acts.js";
import { inTurnOf, RefusedReadError } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";
import { statementComparer } from "../rails/reconcile-rpc.js";
import { monthFacts } from "./month-facts.js";
import { filesOf, type MonthRows } from "./month-files.js";
import type { SentOfMonth } from "./month-statements.js";
import { newPack } from "./new-pack.js";

const STATEMENTS_MAX = 20;
const STREAMS_MAX = 2;
/** The bytes of one message: a part of a form may be much smaller. */
const PIECE_BYTES = 64 * 1_024;
/** The first manifests named no release. */
const OF_EARLIER_BUILDS = "before 0.1.0";
/** The command of a month is small, and its files took longer than a call may. */
const SUBMIT_MILLIS = 30_000;
/** For each millisecond that the files take of the event loop, others have it this long. */
const REST = 4;

interface CloseMonthInput {
  readonly month: Month;
  readonly statements: readonly (Omit<SentOfMonth, "bytes"> & { readonly size: number })[];
  readonly note: ReturnType<typeof parseStatusReason> extends Parsed<infer Reason> ? Reason : never;
}

/** The rpcs that close a month, and return its pack. Their reads take the turns of lists. */
export function monthRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const compare = statementComparer(options);
  const now = (): UnixMillis => toUnixMillis(options.now());
  return {
    closeMonth: organizationUpload("closeMonth", {
      parse: (request) => parseCloseMonth(request, now()),
      field: "files",
      bytesMax: FILE_BYTES_MAX,
      run: async ({ month, statements, note }: CloseMonthInput, bytes, caller, signal) => {
        const sent = splitFiles(statements, bytes);
        if (sent === undefined) return refuse(sizesDiffer(bytes.length));
        const history = historyOf(options, caller, signal);
        try {
          const first = await closedMonthOf(history, month);
          if (first !== undefined) return done({ closed_month: toClosedMonth(first), already_closed: true });
          const facts = await monthFacts({ ...options, history, caller, month, sent, compare });
          if (facts === undefined) return refuse({ reason: "QUEUE_FULL" });
          const obstacles = obstaclesOf(facts);
          const { keys } = facts;
          if (obstacles.length > 0 || keys === undefined)
            return refuse({ reason: "MONTH_NOT_READY", month, obstacles });
          const rows = { history, month, rest: restBeside(caller, signal) };
          const closed = await newPack({ ...options, caller, rows, facts: { ...facts, keys } });
          const deadline = toUnixMillis(now() + SUBMIT_MILLIS);
          const fields = { name: "closeMonth", closed, note } as const;
          const asked = { ...caller, deadline };
          const result = await act<CloseMonth, CloseMonthResponse>(options, { fields }, asked, (closing) => ({
            closed_month: closing && toClosedMonth(closing),
            already_closed: false,
          }));
          if (result.kind === "refused" || !result.replayed) return result;
          return done({ ...result.response, already_closed: true });
        } catch (error) {
          if (error instanceof RefusedReadError) return refuse(error.refusal);
          throw error;
        }
      },
    }),
    exportMonth: serverStream({
      request: ExportMonthRequest,
      streamsMax: STREAMS_MAX,
      parse: ({ month }: ExportMonthRequest) => parseFields({ month: parseMonth(month) }),
      async *run({ month }, caller, signal): EncodedMessages {
        const history = historyOf(options, caller, signal);
        try {
          const closing = await closedMonthOf(history, month);
          if (closing === undefined) return { reason: "MONTH_NOT_CLOSED", month };
          return yield* packOf(closing, { history, month, rest: restBeside(caller, signal) }, signal);
        } catch (error) {
          if (error instanceof RefusedReadError) return error.refusal;
          throw error;
        }
      },
    }),
  };
}

/** Makes the messages of a pack. No read begins once the stream has ended. */
async function* packOf({ month, kept }: Closing, rows: MonthRows, signal: AbortSignal): EncodedMessages {
  const { files, kesc_version: kescVersion = OF_EARLIER_BUILDS } = JSON.parse(
    kept["manifest.json"] ?? "{}",
  ) as MonthManifest;
  const piece: Uint8Array[] = [];
  let size = 0;
  const taken = (): Buffer => {
    const bytes = Buffer.concat(piece.splice(0));
    size = 0;
    return encode(ExportMonthResponse, { piece: bytes });
  };
  try {
    for await (const part of zipOf(filesOf(kept, rows), files)) {
      if (signal.aborted) return undefined;
      piece.push(part);
      size += part.length;
      if (size >= PIECE_BYTES) yield taken();
    }
  } catch (error) {
    if (!(error instanceof PackDiffersError)) throw error;
    return { reason: "MONTH_PACK_DIFFERS", month, file: error.file, kescVersion };
  }
  if (size > 0) yield taken();
  return undefined;
}

/** While the files are made, mints have four fifths of the event loop. A command has none. */
function restBeside({ who }: Pick<Caller, "who">, signal: AbortSignal): MonthRows["rest"] {
  return async (busyMillis) => {
    if (signal.aborted) throw new RefusedReadError({ reason: "DEADLINE_EXCEEDED" });
    if (who.kind !== "machine") await sleep(busyMillis * REST);
  };
}

/** At a server reads take the turns of lists. A command on the database runs alone. */
function historyOf({ cellOf, listTurns }: HandlersOptions, caller: Caller, signal: AbortSignal): History {
  const inTurn: History["inTurn"] =
    caller.who.kind === "machine"
      ? async (read) => (await read()).result
      : inTurnOf((read) => listTurns.pageOfStream({ caller, signal }, read));
  return { organizationId: caller.organization.id, reads: cellOf(caller.organization).history, inTurn };
}

function closedMonthOf({ organizationId, reads, inTurn }: History, month: Month): Promise<Closing | undefined> {
  return inTurn(async () => ({ result: await reads.closedMonth(organizationId, month), lookedAt: 1 }));
}

function toClosedMonth({ month, lastSeq, kept, seq, recordedAt }: Closing): ClosedMonthMessage {
  return {
    month,
    last_sequence: BigInt(lastSeq),
    manifest_sha256: hash("sha256", kept["manifest.json"] ?? "", "hex"),
    closed_sequence: BigInt(seq),
    closed_at: toTimestamp(recordedAt),
  };
}

function parseCloseMonth(
  { month, statements, note }: CloseMonthRequest,
  now: UnixMillis,
): ParsedFields<CloseMonthInput> {
  if (statements.length > STATEMENTS_MAX) {
    return fieldProblem("statements", `must have at most ${String(STATEMENTS_MAX)} statements`, "TOO_LONG");
  }
  const names = statements.map(({ rail, place }) => `${rail} ${place}`);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice >= 0) return fieldProblem(`statements[${String(twice)}]`, "must have each rail and place once", "CONFLICT");
  const given = parseFields({ month: parseEndedMonth(month, now), note: parseStatusReason(note) });
  return joined(given, parseItems("statements", statements, parseStatement), (own, files) => ({
    ...own,
    statements: files,
  }));
}

function parseEndedMonth(unchecked: string, now: UnixMillis): Parsed<Month> {
  const month = parseMonth(unchecked);
  if (!month.ok || isFinal(periodOfMonth(month.value).end, now)) return month;
  const end = new Date(periodOfMonth(month.value).end).toISOString();
  return unparsed(`must have ended a minute ago, and ends at ${end}`, "OUT_OF_RANGE");
}

function parseStatement({ size, ...named }: MonthStatement) {
  const bytes = parseFields({
    size: size > 0n ? parsed(Number(size)) : unparsed("must be 1 or more", "OUT_OF_RANGE"),
  });
  return joined(parseFirst(named), bytes, (first, own) => ({ ...first, ...own }));
}

/** Undefined if the sizes do not add up to the bytes. */
function splitFiles(statements: CloseMonthInput["statements"], bytes: Uint8Array): readonly SentOfMonth[] | undefined {
  if (statements.reduce((sum, { size }) => sum + size, 0) !== bytes.length) return undefined;
  let at = 0;
  return statements.map(({ size, ...statement }) => {
    const own = bytes.slice(at, at + size);
    at += size;
    return { ...statement, bytes: own };
  });
}

function sizesDiffer(bytes: number) {
  const message = `must be the sizes of the statements together, and are ${String(bytes)} bytes`;
  return { reason: "INVALID_FIELD", fields: [{ field: "files", message, code: "OUT_OF_RANGE" }] } as const;
}
