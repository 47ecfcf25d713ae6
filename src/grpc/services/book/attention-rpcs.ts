import type { Organization } from "../../../domain/api-key.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import type { ListNeedsAttentionResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { RailAccount as RailAccountMessage } from "../../../gen/kesc/admin/v1/resources.js";
import type { DepositFilters, PageRequest, Reads } from "../../../ledger/ports/reads.js";
import type { Administration } from "../../../operators/ports.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { type PageCost, pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { toDepositMessage } from "../../messages/deposit.js";
import { toRailAccount } from "../../messages/operators/messages.js";
import { toFlagMessages } from "../../messages/payment.js";
import { toTransactionMessage } from "../../messages/transaction.js";
import type { HandlersOptions } from "../operator-options.js";
import { type AskedPage, parseOwnPage } from "../pages.js";
import { formatPageToken } from "../paging.js";
import { waitingPayouts } from "../payouts/stored-payout-rpcs.js";

const RPC = "ListNeedsAttention";

/** The rpc that lists what waits for a person: the transactions first, and then the deposits. */
export function attentionRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { cellOf, listTurns, administration } = options;
  return {
    listNeedsAttention: organizationRpc("listNeedsAttention", {
      parse: (request, caller) => {
        const ofTransactions = parseOwnPage(request, caller, RPC);
        if (ofTransactions.ok || request.page_token === "") return ofTransactions;
        // A token of the deposits has their filter. Any other problem is that of both.
        const ofDeposits = parseOwnPage(request, caller, RPC, OF_DEPOSITS);
        return ofDeposits.ok ? ofDeposits : ofTransactions;
      },
      run: (asked, caller) => {
        const { organization } = caller;
        return pageInTurn(
          { listTurns, caller },
          async () => ({
            ...(await readAttention(cellOf(organization).reads, organization.id, asked)),
            held_rail_accounts: isFirst(asked) ? await heldAccounts(administration, organization) : [],
            waiting_payouts: isFirst(asked) ? await waitingPayouts(options, organization) : [],
          }),
          ({ transactions, deposits, next_page_token, flags, held_rail_accounts, waiting_payouts }) => ({
            transactions,
            deposits,
            next_page_token,
            flags,
            held_rail_accounts,
            waiting_payouts,
          }),
        );
      },
    }),
  };
}

const OF_DEPOSITS: AskedPage["list"]["filters"] = { of: "deposits" };
const WAITING: DepositFilters = { status: ["UNALLOCATED", "RETURNING"] };
/** The page that begins with the newest deposit. */
const NEWEST = Number.MAX_SAFE_INTEGER;

type AttentionPage = PageCost & Omit<ListNeedsAttentionResponse, "held_rail_accounts" | "waiting_payouts">;

function isFirst({ list, page }: AskedPage): boolean {
  return list.filters["of"] === undefined && page.beforeSeq === undefined;
}

async function heldAccounts(
  administration: Pick<Administration, "railAccounts">,
  organization: Organization,
): Promise<RailAccountMessage[]> {
  const accounts = await administration.railAccounts(organization);
  const isWaiting = ({ warnings }: (typeof accounts)[number]): boolean =>
    warnings.PAYOUTS_HELD !== undefined || warnings.CREDENTIALS_REFUSED !== undefined;
  return accounts.filter(isWaiting).map((account) => toRailAccount(account));
}

/** Reads a page. The one with the last transaction goes on with the deposits, if it has room. */
async function readAttention(
  reads: Pick<Reads, "transactions" | "deposits">,
  organizationId: OrganizationId,
  { list, page }: AskedPage,
): Promise<AttentionPage> {
  const ofDeposits = { ...list, filters: OF_DEPOSITS };
  const depositsPage = async (asked: PageRequest): Promise<AttentionPage> => {
    const { rows, nextBeforeSeq, lookedAt } = await reads.deposits(organizationId, WAITING, asked);
    const next_page_token = formatPageToken(ofDeposits, nextBeforeSeq);
    return { rows, lookedAt, transactions: [], deposits: rows.map(toDepositMessage), next_page_token, flags: [] };
  };
  if (list.filters["of"] !== undefined) return depositsPage(page);
  const { rows, nextBeforeSeq, lookedAt } = await reads.transactions(organizationId, { needsAttention: true }, page);
  const transactions = rows.map((row) => toTransactionMessage(row));
  const flags = rows.map((row) => ({ transaction_id: row.id, open_flags: toFlagMessages(row) }));
  const left = page.size - rows.length;
  if (nextBeforeSeq !== undefined || left === 0) {
    const next_page_token =
      nextBeforeSeq === undefined ? formatPageToken(ofDeposits, NEWEST) : formatPageToken(list, nextBeforeSeq);
    return { rows, lookedAt, transactions, deposits: [], next_page_token, flags };
  }
  const rest = await depositsPage({ size: left, beforeSeq: undefined });
  return { ...rest, rows: [...rows, ...rest.rows], lookedAt: lookedAt + rest.lookedAt, transactions, flags };
}
