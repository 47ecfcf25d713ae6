import { parsed } from "../../../domain/values/parsed.js";
import * as wire from "../../../gen/kesc/v1/book_service.js";
import type { History } from "../../../statements/as-of.js";
import { exportGeneralLedger, exportJournal, exportStatement } from "../../../statements/exports.js";
import type { Caller } from "../../calls/call-context.js";
import type { EncodedMessages } from "../../calls/route.js";
import { serverStream, type ServerStreamRoute } from "../../calls/server-stream-call.js";
import { fieldsOf, KINDS } from "../../messages/field-kinds.js";
import { toGeneralLedgerLine, toJournalLine, toStatementLine } from "../../messages/history/statement.js";
import { encode } from "../../messages/wire-format.js";
import { inTurnOf, periodKinds, RefusedReadError } from "./history-turns.js";
import type { HistoryHandlersOptions } from "./supply-rpcs.js";

/** The maximum number of open exports of one kind and organization: each reads as lists do. */
const STREAMS_MAX = 2;

export function exportStatementRpc(options: HistoryHandlersOptions): ServerStreamRoute {
  return serverStream({
    request: wire.ExportStatementRequest,
    streamsMax: STREAMS_MAX,
    ...fieldsOf({ ...KINDS, ...periodKinds(options.now) })("account_id", "start", "end"),
    async *run({ accountId, start, end }, caller, signal): EncodedMessages {
      const { reads } = options.cellOf(caller.organization);
      // Only this read compares the organization, so it comes first.
      const account = await reads.account(caller.organization.id, accountId);
      if (account === undefined) return { reason: "ACCOUNT_NOT_FOUND", accountId };
      const owner = { organizationId: caller.organization.id, accountId };
      const parts = exportStatement(historyOf(options, caller, signal), { accountId, start, end });
      return yield* encoded(parts, signal, (part) =>
        encode(wire.ExportStatementResponse, { lines: part.map((line) => toStatementLine(line, owner)) }),
      );
    },
  });
}

export function exportJournalRpc(options: HistoryHandlersOptions): ServerStreamRoute {
  return serverStream({
    request: wire.ExportJournalRequest,
    streamsMax: STREAMS_MAX,
    ...fieldsOf(periodKinds(options.now))("start", "end"),
    run: (period, caller, signal) => {
      const history = historyOf(options, caller, signal);
      return encoded(exportJournal(history, period), signal, (part) =>
        encode(wire.ExportJournalResponse, { lines: part.map((line) => toJournalLine(line, history)) }),
      );
    },
  });
}

export function exportGeneralLedgerRpc(options: HistoryHandlersOptions): ServerStreamRoute {
  return serverStream({
    request: wire.ExportGeneralLedgerRequest,
    streamsMax: STREAMS_MAX,
    ...fieldsOf({ ...periodKinds(options.now), postings_only: parsed<boolean> })("start", "end", "postings_only"),
    run: ({ postingsOnly, ...period }, caller, signal) => {
      const history = historyOf(options, caller, signal);
      return encoded(exportGeneralLedger(history, period, { postingsOnly }), signal, (part) =>
        encode(wire.ExportGeneralLedgerResponse, { lines: part.map((line) => toGeneralLedgerLine(line, history)) }),
      );
    },
  });
}

function historyOf({ cellOf, listTurns }: HistoryHandlersOptions, caller: Caller, signal: AbortSignal): History {
  const { history: reads } = cellOf(caller.organization);
  // A busy key makes an export slower. It does not cut off what has been under way for long.
  const inTurn = inTurnOf((read) => listTurns.pageOfStream({ caller, signal }, read));
  return { organizationId: caller.organization.id, reads, inTurn };
}

/** Encodes each part as one message. No read begins once the stream has ended. */
async function* encoded<Part>(
  parts: AsyncGenerator<Part, void, void>,
  signal: AbortSignal,
  encodePart: (part: Part) => Buffer,
): EncodedMessages {
  try {
    for await (const part of parts) {
      if (signal.aborted) return undefined;
      yield encodePart(part);
    }
    return undefined;
  } catch (error) {
    if (error instanceof RefusedReadError) return error.refusal;
    throw error;
  }
}
