import type { BookServiceService } from "../../gen/kesc/v1/book_service.js";
import type { ServerStreamRoute } from "../calls/server-stream-call.js";
import type { UnaryRoute } from "../calls/unary-call.js";
import { exportGeneralLedgerRpc, exportJournalRpc, exportStatementRpc } from "./history/exports.js";
import { getStatement } from "./history/statement-rpcs.js";
import { getSupply, type HistoryHandlersOptions } from "./history/supply-rpcs.js";
import { getCheckpoint, getConsistencyProof, getInclusionProof, type SealRpcsOptions } from "./seal-rpcs.js";

/** The rpcs of kesc.v1.BookService. An rpc of the contract without a handler does not compile. */
export function bookHandlers(
  options: HistoryHandlersOptions & SealRpcsOptions,
): Record<keyof BookServiceService, UnaryRoute | ServerStreamRoute> {
  return {
    getSupply: getSupply(options),
    getStatement: getStatement(options),
    exportStatement: exportStatementRpc(options),
    exportJournal: exportJournalRpc(options),
    exportGeneralLedger: exportGeneralLedgerRpc(options),
    getCheckpoint: getCheckpoint(options),
    getInclusionProof: getInclusionProof(options),
    getConsistencyProof: getConsistencyProof(options),
  };
}
