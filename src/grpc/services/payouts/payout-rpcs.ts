import { otherNetworkOf } from "../../../../runtime/kenyan-networks.js";
import type { RailTerms } from "../../../domain/payment.js";
import { PAYOUT_ROWS_MAX } from "../../../domain/payout-file.js";
import type { PayFile } from "../../../domain/payouts/pay-file.js";
import { DIRECT_RAIL, parseRail, type Rail } from "../../../domain/transaction.js";
import { MAX_CENTS, toCents } from "../../../domain/values/cents.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { PhoneNumber } from "../../../domain/values/phone-number.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { PayFileRequest, PayFileResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import { FILE_BYTES_MAX } from "../../../reconcile/files/tables.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import { organizationUpload } from "../../calls/admin-rpc.js";
import { actorOf } from "../../calls/call-context.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse, refuseField, type RpcResult } from "../../calls/rpc-result.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { ifGiven, type ParsedFields, parseFields } from "../../messages/fields.js";
import { parseNote } from "../../messages/operators/fields.js";
import { type Preview, toPayouts, toPreview } from "../../messages/operators/payouts.js";
import { act, type OperatorCaller } from "../acts.js";
import { readingHistory } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";
import { payoutListRpcs } from "./payout-list-rpcs.js";
import { type PreparedFile, prepareFile } from "./read-file.js";
import { redeemTermsOf } from "./redeem-terms.js";
import { storedPayoutRpcs } from "./stored-payout-rpcs.js";

/** The time in which each row of a file is looked at. A client may wait less. */
const FILE_MILLIS_MAX = 600_000;
/** To receive this number of bytes rests as long as a row does. */
const RECEIVED_BYTES_PER_ROW = 512;

/** The rpcs about files of payouts. */
export function payoutRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return { payFile: payFile(options), ...storedPayoutRpcs(options), ...payoutListRpcs(options) };
}

interface AskedPayouts {
  readonly rail: Rail | undefined;
  readonly preview: boolean;
  readonly leaveOut: number;
  readonly note: StatusReason;
}

function payFile(options: HandlersOptions): RpcRoute {
  return organizationUpload("payFile", {
    parse: parseFirst,
    field: "file",
    bytesMax: FILE_BYTES_MAX,
    takesPowerAway: ({ preview }) => preview,
    run: async (asked, bytes, waiting) => {
      // A large file gives way to others for longer than a call may wait.
      const caller = { ...waiting, deadline: toUnixMillis(options.now() + FILE_MILLIS_MAX) };
      if (bytes.length === 0) return refuseField("file", "is required", "REQUIRED");
      const { cellOf, listTurns } = options;
      const { history: reads } = cellOf(caller.organization);
      const of = { organizationId: caller.organization.id, caller, listTurns, reads };
      return readingHistory(of, async ({ inTurn }) => {
        await inTurn(() => Promise.resolve({ result: undefined, lookedAt: bytes.length / RECEIVED_BYTES_PER_ROW }));
        try {
          const read = await options.fileReading.ofPayouts(actorOf(caller.who), bytes, { inTurn });
          if (read === undefined) return refuse({ reason: "QUEUE_FULL" });
          const terms = termsOf(options, caller, asked.rail);
          if ("reason" in terms) return refuse(terms);
          const prepared = await prepareFile(read, {
            organization: caller.organization,
            files: options.payoutFiles,
            limits: await cellOf(caller.organization).reads.limits(caller.organization.id),
            ...terms,
            newTransactionId: options.newTransactionId,
            decide: (command) =>
              cellOf(caller.organization).ledger.submit(command, caller.deadline, { bulk: true, trace: caller.trace }),
            doubts: doubtsOf(options, caller, terms.rail),
            inTurn,
            now: toUnixMillis(options.now()),
          });
          if ("reason" in prepared) return refuse(prepared);
          return await propose(options, { asked, prepared, caller });
        } catch (error) {
          if (!(error instanceof StatementError)) throw error;
          return refuseField("file", `must be a file of payouts: ${error.message.replace(/\.$/, "")}`, "FORMAT");
        }
      });
    },
  });
}

interface ProposedFile {
  readonly asked: AskedPayouts;
  readonly prepared: PreparedFile;
  readonly caller: OperatorCaller;
}

/** Stores the rows before the ledger gets the command, so that an approval finds them. */
async function propose(
  options: HandlersOptions,
  { asked, prepared, caller }: ProposedFile,
): Promise<RpcResult<PayFileResponse>> {
  const { preview, sha256, rowsSha256 } = prepared;
  const shown = toPreview(preview);
  const before = await options.payoutFiles.file(caller.organization, sha256);
  if (asked.preview) return done({ preview: shown, payouts: before?.approved && toPayouts(before) });
  if (before?.approved !== undefined) {
    const response = { preview: toPreview(before.preview as Preview), payouts: toPayouts(before) };
    return { kind: "done", response, replayed: true };
  }
  if (preview.leftOut !== asked.leaveOut) {
    const [first] = preview.errors;
    const example =
      first === undefined ? "" : `, such as line ${String(first.line)} (${first.text.replace(/\.$/, "")})`;
    const found = `must be ${String(preview.leftOut)}: the file has that number of rows with an error${example}`;
    return refuseField("leave_out", found, "CONFLICT");
  }
  if (preview.count === 0) return refuseField("file", "must have a row that can be paid", "CONFLICT");
  if (preview.amountCents > MAX_CENTS) return refuseField("file", "must have a smaller sum", "OUT_OF_RANGE");
  await options.payoutFiles.store(caller.organization, prepared, toUnixMillis(options.now()));
  const { count: rows, amountCents, leftOut } = preview;
  const file = { sha256, rowsSha256, rail: preview.rail as Rail, rows, amountCents: toCents(amountCents), leftOut };
  return act<PayFile, PayFileResponse>(
    options,
    { fields: { name: "payFile", ...file, note: asked.note } },
    caller,
    (approved) => {
      const stored = { sha256, rowsSha256, parts: prepared.parts.length, decidedParts: 0, refused: 0, preview };
      return { preview: shown, payouts: approved && toPayouts({ ...stored, approved }) };
    },
  );
}

/** Returns the rail and its terms, or why the organization cannot pay over it. */
function termsOf(
  { cellOf, phoneCoolingMillis }: HandlersOptions,
  { organization }: OperatorCaller,
  named: Rail | undefined,
): { readonly rail: Rail; readonly railTerms: RailTerms } | AnyRefusal {
  const { railAccounts } = cellOf(organization);
  const rail = named ?? railAccounts.defaultRail(organization.id);
  if (rail === DIRECT_RAIL) {
    return named === undefined
      ? refuseField("rail", "is required, since the default rail is direct, which pays nobody", "REQUIRED").refusal
      : refuseField("rail", "must be a rail that pays, such as mpesa", "UNKNOWN_VALUE").refusal;
  }
  const railTerms = redeemTermsOf(railAccounts, { organizationId: organization.id, rail, phoneCoolingMillis });
  return railTerms === undefined ? { reason: "RAIL_NOT_CONFIGURED", rail } : { rail, railTerms };
}

function doubtsOf({ cellOf }: HandlersOptions, { organization }: OperatorCaller, rail: Rail) {
  const account = cellOf(organization).railAccounts.accountOf(organization.id, rail);
  // On the sandbox a file is tried before it is one for M-Pesa.
  if (account?.rail.isSandbox === true) return (number: PhoneNumber): boolean => otherNetworkOf(number) !== undefined;
  return (number: PhoneNumber): boolean => account?.rail.doubtsNumber?.(number) === true;
}

function parseFirst({ rail, preview, leave_out, note }: PayFileRequest): ParsedFields<AskedPayouts> {
  const fields = parseFields({
    rail: ifGiven(rail, parseRail),
    leave_out: parseLeaveOut(leave_out),
    note: parseNote(preview && note === "" ? "preview" : note),
  });
  if (!fields.ok) return fields;
  const { leave_out: leaveOut, ...own } = fields.value;
  return { ok: true, value: { ...own, leaveOut, preview } };
}

function parseLeaveOut(unchecked: number): Parsed<number> {
  return unchecked >= 0 && unchecked <= PAYOUT_ROWS_MAX
    ? parsed(unchecked)
    : unparsed(`must be a whole number from 0 to ${String(PAYOUT_ROWS_MAX)}`, "OUT_OF_RANGE");
}
