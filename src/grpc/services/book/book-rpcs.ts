import { BOOK_STATES, MOVE_PHASES } from "../../../domain/book.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import type { ListedBook, ListedSeal, StandingAlarm } from "../../../operators/reads.js";
import { houseRpc, organizationRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { enumOf } from "../../messages/enums.js";
import { toReserveHolding } from "../../messages/history/supply.js";
import { fields } from "../../messages/operators/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import type { HandlersOptions } from "../operator-options.js";
import { parseOwnPage, parsePage, tokenAfter } from "../pages.js";
import { formatPageToken } from "../paging.js";

const STATES = enumOf(wire.BookState, "BOOK_STATE", BOOK_STATES);
const PHASES = enumOf(wire.MovePhase, "MOVE_PHASE", MOVE_PHASES);

/** The rpcs that read books. None of them writes. */
export function bookRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return {
    listReserve: listReserve(options),
    listBooks: listBooks(options),
    listSeals: listSeals(options),
  };
}

function listReserve(options: HandlersOptions): RpcRoute {
  const { cellOf, listTurns, now } = options;
  return organizationRpc("listReserve", {
    ...fields(),
    run: (_input, caller) =>
      pageInTurn(
        { listTurns, caller },
        async () => {
          const rows = await cellOf(caller.organization).history.reserveHoldings(caller.organization.id);
          return { rows, lookedAt: rows.length };
        },
        ({ rows }) => ({ reserve_holdings: rows.map((figure) => toReserveHolding(figure, toUnixMillis(now()))) }),
      ),
  });
}

function listBooks({ bookReads, listTurns }: HandlersOptions): RpcRoute {
  return houseRpc("listBooks", {
    parse: (request) => parsePage(request, "ListBooks"),
    run: ({ list, page: { size, beforeSeq: begin = 0 } }, caller) =>
      pageInTurn(
        { listTurns, caller },
        async () => {
          const all = await bookReads.books();
          const rows = all.filter((book) => placeOf(book) >= begin).slice(0, size + 1);
          return { rows, lookedAt: all.length };
        },
        ({ rows }) => {
          const next = rows[size];
          return {
            books: rows.slice(0, size).map(toBook),
            next_page_token: formatPageToken(list, next && placeOf(next)),
          };
        },
      ),
  });
}

/** No cell has as many books. */
const PLACES_OF_CELL = 2 ** 32;

/** Returns the place of a book among those of all cells. A new book changes no other place. */
function placeOf({ cell, number }: ListedBook): number {
  return cell * PLACES_OF_CELL + number;
}

function listSeals(options: HandlersOptions): RpcRoute {
  const { bookReads, listTurns } = options;
  return organizationRpc("listSeals", {
    parse: (request, caller) => parseOwnPage(request, caller, "ListSeals"),
    run: (asked, caller) =>
      pageInTurn(
        { listTurns, caller },
        async () => {
          const { size, beforeSeq: beforeSize } = asked.page;
          const rows = await bookReads.seals(caller.organization, { size: size + 1, beforeSize });
          return { rows, lookedAt: rows.length, alarm: await bookReads.sealAlarm(caller.organization) };
        },
        ({ rows, alarm }) => ({
          seals: rows.slice(0, asked.page.size).map(toSeal),
          next_page_token: tokenAfter(
            rows.map(({ size: seq }) => ({ seq })),
            asked,
          ),
          alarm: alarm && toSealAlarm(alarm),
        }),
      ),
  });
}

function toBook(book: ListedBook): wire.Book {
  return {
    organization_id: book.organizationId,
    organization_name: book.name,
    cell: book.cell,
    state: STATES[book.state],
    suspended: book.isSuspended,
    last_sequence: BigInt(book.lastSeq),
    last_recorded_at: book.lastSeq === 0 ? undefined : toTimestamp(book.lastRecordedAt),
    phase: book.move && PHASES[book.move.phase],
    moved_to: book.move?.movedTo,
    changed: book.isChanged,
  };
}

function toSeal({ size, root, sealedAt }: ListedSeal): wire.Seal {
  return {
    size: BigInt(size),
    root_hash: Buffer.from(root).toString("base64"),
    sealed_at: toTimestamp(sealedAt),
  };
}

function toSealAlarm({ raisedAt, size, firstSeq, lastSeq, problem }: StandingAlarm): wire.SealAlarm {
  return {
    raised_at: toTimestamp(raisedAt),
    size: BigInt(size),
    first_sequence: BigInt(firstSeq),
    last_sequence: BigInt(lastSeq),
    problem,
  };
}
