import type { Organization } from "../../../domain/api-key.js";
import { formatCents } from "../../../domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../domain/values/ids.js";
import {
  type AccountJournalRow as AccountJournalRowMessage,
  ExportAccountRequest,
  ExportAccountResponse,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import type { Page, PageRequest } from "../../../ledger/ports/reads.js";
import type { AccountJournalRow } from "../../../statements/ports.js";
import type { Caller } from "../../calls/call-context.js";
import { organizationOr } from "../../calls/named-organization.js";
import type { EncodedMessages, RpcRoute } from "../../calls/route.js";
import { serverStream } from "../../calls/server-stream-call.js";
import { toAccountMessage } from "../../messages/account.js";
import { toDestinationMessage } from "../../messages/destination.js";
import { shown } from "../../messages/fields.js";
import { toFreezeMessage } from "../../messages/freeze.js";
import { fields } from "../../messages/operators/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { toTransactionMessage } from "../../messages/transaction.js";
import { encode } from "../../messages/wire-format.js";
import type { HandlersOptions } from "../operator-options.js";
import type { ServedCell } from "../served-cell.js";
import { noteReveal } from "./reveals.js";

/** The maximum number of open exports of one operator: each reads as lists do. */
const STREAMS_MAX = 2;
/** The parts of one message. A transaction has at most some 13 KB, and a client takes 4 MB. */
const PARTS_MAX = 100;

/** The rpc that shows what is stored about the user of an account. */
export function accountRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return {
    exportAccount: serverStream({
      request: ExportAccountRequest,
      streamsMax: STREAMS_MAX,
      ...fields("account_id"),
      accountOf: ({ accountId }) => accountId,
      async *run({ accountId }, caller: Caller<Organization>, signal) {
        const { cellOf, listTurns } = options;
        const { organization } = caller;
        const given = { ...cellOf(organization), listTurns, caller, signal };
        const refused = yield* exported(given, { organizationId: organization.id, accountId });
        if (refused !== undefined) return refused;
        // The rows of a book that has moved are removed at the old place. So some may be missing.
        const still = await organizationOr(options, organization.id);
        return "cell" in still && still.cell === organization.cell ? undefined : { reason: "BOOK_MOVING" };
      },
    }),
  };
}

interface AccountExport extends Pick<ServedCell, "ledger" | "reads" | "history">, Pick<HandlersOptions, "listTurns"> {
  readonly caller: Caller<Organization>;
  readonly signal: AbortSignal;
}

interface ExportedAccount {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
}

/** Makes the messages of an account, in pages that take the turns of lists. */
async function* exported(given: AccountExport, { organizationId, accountId }: ExportedAccount): EncodedMessages {
  const { reads, history } = given;
  if (given.caller.who.operator !== undefined) {
    const told = { organizationId, accountId, reason: "export", note: "all that is stored" } as const;
    const refusal = await noteReveal(given, told, given.caller);
    // Of an erased account there is no personal data to show.
    if (refusal !== undefined && refusal.reason !== "ACCOUNT_ERASED") return refusal;
  }
  const account = await reads.account(organizationId, accountId);
  if (account === undefined) return { reason: "ACCOUNT_NOT_FOUND", accountId };
  yield messageOf({ account: toAccountMessage(account) });
  const refused =
    (yield* pages(given, {
      read: (page) => reads.freezes(organizationId, accountId, page),
      messageOf: (freezes) => ({ freezes: freezes.map(toFreezeMessage) }),
    })) ??
    (yield* pages(given, {
      read: (page) => reads.destinations(organizationId, accountId, page),
      messageOf: (destinations) => ({ destinations: destinations.map(toDestinationMessage) }),
    })) ??
    (yield* pages(given, {
      read: (page) => reads.transactions(organizationId, { accountId }, page),
      messageOf: (rows) => ({ transactions: rows.map((row) => toTransactionMessage(row)) }),
    }));
  if (refused !== undefined) return refused;
  let oldest: AccountJournalRow | undefined;
  const cut = yield* pages(given, {
    read: async (page) => {
      const { result: rows, lookedAt } = await history.accountRows(organizationId, { accountId, ...page });
      oldest = rows.at(-1);
      return { rows, nextBeforeSeq: oldest?.previousSeq === undefined ? undefined : oldest.seq, lookedAt };
    },
    messageOf: (rows) => ({ journal_rows: rows.map((row) => toJournalRow(row, accountId)) }),
  });
  // An account has at least one row. A page without one means that its rows are being removed.
  return cut ?? (oldest === undefined ? { reason: "BOOK_MOVING" } : undefined);
}

interface Pages<Row> {
  readonly read: (page: PageRequest) => Promise<Page<Row>>;
  readonly messageOf: (rows: readonly Row[]) => Partial<ExportAccountResponse>;
}

/** Makes a message of each page. No read begins once the stream has ended. */
async function* pages<Row>(
  { listTurns, caller, signal }: Pick<AccountExport, "listTurns" | "caller" | "signal">,
  { read, messageOf: partOf }: Pages<Row>,
): EncodedMessages {
  let beforeSeq: number | undefined;
  do {
    const page = { size: PARTS_MAX, beforeSeq };
    // A busy operator makes an export slower. That cuts nothing off that has begun.
    const found = await listTurns.pageOfStream({ caller, signal }, () => read(page));
    if ("reason" in found) return found;
    if (found.rows.length > 0) yield messageOf(partOf(found.rows));
    beforeSeq = found.nextBeforeSeq;
  } while (beforeSeq !== undefined);
  return undefined;
}

const NO_PARTS = { account: undefined, freezes: [], destinations: [], transactions: [], journal_rows: [] };

function messageOf(part: Partial<ExportAccountResponse>): Buffer {
  return encode(ExportAccountResponse, { ...NO_PARTS, ...part });
}

function toJournalRow(row: AccountJournalRow, accountId: AccountId): AccountJournalRowMessage {
  const { availableCents, heldCents } = row.balancesAfter;
  return {
    sequence: BigInt(row.seq),
    previous_sequence: row.previousSeq === undefined ? undefined : BigInt(row.previousSeq),
    recorded_at: toTimestamp(row.recordedAt),
    type: row.kind,
    account_id: accountId,
    transaction_id: row.transactionId,
    freeze_id: row.freezeId,
    debit_account: row.debit,
    credit_account: row.credit,
    amount: row.amountCents === undefined ? undefined : formatCents(row.amountCents),
    available_balance: formatCents(availableCents),
    held_balance: formatCents(heldCents),
    actor: row.actor,
    note: shown(row.note),
    content_hash: Buffer.from(row.contentHash).toString("hex"),
  };
}
