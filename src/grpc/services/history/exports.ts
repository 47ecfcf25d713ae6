import type { AccountId } from "../../../domain/values/ids.js";
import { parseAccountId } from "../../../domain/values/ids.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import {
  ExportGeneralLedgerRequest,
  ExportGeneralLedgerResponse,
  ExportJournalRequest,
  ExportJournalResponse,
  ExportStatementRequest,
  ExportStatementResponse,
} from "../../../gen/kesc/v1/statement_service.js";
import type { History } from "../../../statements/as-of.js";
import { exportGeneralLedger, exportJournal, exportStatement } from "../../../statements/exports.js";
import { parsePeriodEnd, parsePeriodStart } from "../../../statements/period.js";
import type { Period } from "../../../statements/statement.js";
import type { Caller } from "../../calls/call-context.js";
import { type EncodedMessages, serverStream, type ServerStreamRoute } from "../../calls/server-stream-call.js";
import { encode } from "../../messages/encode.js";
import { type ParsedFields, parseFields } from "../../messages/fields.js";
import { toGeneralLedgerLine, toJournalLine, toStatementLine } from "../../messages/history/statement.js";
import { inTurnOf, NoTurnError } from "./history-turns.js";
import type { HistoryHandlersOptions } from "./supply-service.js";

/** The maximum number of open exports of one kind and organization: each reads as lists do. */
const STREAMS_MAX = 2;

export function exportStatementRoute(options: HistoryHandlersOptions): ServerStreamRoute {
  return serverStream({
    request: ExportStatementRequest,
    streamsMax: STREAMS_MAX,
    parse: (request): ParsedFields<Period & { readonly account_id: AccountId }> => {
      const start = parsePeriodStart(request.from);
      return parseFields({
        account_id: parseAccountId(request.account_id),
        from: start,
        to: parsePeriodEnd(request.to, { start, now: options.now() }),
      });
    },
    async *run({ account_id: accountId, from, to }, caller, signal): EncodedMessages {
      const { reads } = options.cellOf(caller.key);
      // Only this read compares the organization, so it comes first.
      const account = await reads.account(caller.key.organizationId, accountId);
      if (account === undefined) return { reason: "ACCOUNT_NOT_FOUND", accountId };
      const parts = exportStatement(historyOf(options, caller), { accountId, from, to });
      return yield* encoded(parts, signal, (part) =>
        encode(ExportStatementResponse, { lines: part.map(toStatementLine) }),
      );
    },
  });
}

export function exportJournalRoute(options: HistoryHandlersOptions): ServerStreamRoute {
  return serverStream({
    request: ExportJournalRequest,
    streamsMax: STREAMS_MAX,
    parse: (request) => parsePeriod(request, options.now()),
    run: (period, caller, signal) =>
      encoded(exportJournal(historyOf(options, caller), period), signal, (part) =>
        encode(ExportJournalResponse, { lines: part.map(toJournalLine) }),
      ),
  });
}

export function exportGeneralLedgerRoute(options: HistoryHandlersOptions): ServerStreamRoute {
  return serverStream({
    request: ExportGeneralLedgerRequest,
    streamsMax: STREAMS_MAX,
    parse: (request) => parsePeriod(request, options.now()),
    run: (period, caller, signal) =>
      encoded(exportGeneralLedger(historyOf(options, caller), period), signal, (part) =>
        encode(ExportGeneralLedgerResponse, { lines: part.map(toGeneralLedgerLine) }),
      ),
  });
}

function historyOf({ cellOf, listTurns }: HistoryHandlersOptions, caller: Caller): History {
  const { history: reads } = cellOf(caller.key);
  return { organizationId: caller.key.organizationId, reads, inTurn: inTurnOf(listTurns, caller) };
}

function parsePeriod(request: { readonly from: string; readonly to: string }, now: UnixMillis): ParsedFields<Period> {
  const start = parsePeriodStart(request.from);
  return parseFields({ from: start, to: parsePeriodEnd(request.to, { start, now }) });
}

/** Encodes each part as one message. A read that gets no turn ends the stream with its refusal. */
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
    if (error instanceof NoTurnError) return error.refusal;
    throw error;
  }
}
