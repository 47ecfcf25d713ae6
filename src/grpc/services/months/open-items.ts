import type { Proposal } from "../../../domain/proposal.js";
import { nameIn } from "../../../domain/proposal-content.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type { Page, PageRequest } from "../../../ledger/ports/reads.js";
import type { History } from "../../../statements/as-of.js";
import { formatSigned } from "../../messages/history/supply.js";
import type { OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

/** The most things of one kind that a pack names. */
const NAMED_MAX = 1_000;
const PAGE_ROWS = 200;

interface OpenItemsOptions extends Pick<HandlersOptions, "cellOf" | "administration"> {
  readonly history: History;
  readonly caller: OperatorCaller;
  /** Only what began before it. */
  readonly end: UnixMillis;
}

/**
 * Names what began before the end of a month and is still open when the month is closed: payments,
 * deposits of nobody, proposals. Of each kind at most 1,000, the newest ones.
 */
export async function openItems({ cellOf, administration, history, caller, end }: OpenItemsOptions): Promise<object> {
  const { organization } = caller;
  const { reads } = cellOf(organization);
  const { inTurn } = history;
  const named = async <Row>(
    read: (page: PageRequest) => Promise<Page<Row>>,
    itemOf: (row: Row) => object,
  ): Promise<object> => {
    const items: object[] = [];
    let beforeSeq: number | undefined;
    do {
      const request = { size: PAGE_ROWS, beforeSeq };
      const page = await inTurn(async () => {
        const result = await read(request);
        return { result, lookedAt: result.lookedAt };
      });
      items.push(...page.rows.map(itemOf));
      beforeSeq = page.nextBeforeSeq;
    } while (beforeSeq !== undefined && items.length < NAMED_MAX);
    return { items: items.slice(0, NAMED_MAX), has_more: beforeSeq !== undefined || items.length > NAMED_MAX };
  };
  const proposals = await administration.proposals({ afterId: undefined, size: NAMED_MAX, waits: { organization } });
  const own = proposals.filter((each) => each.organizationId === organization.id && each.proposedAt < end);
  return {
    payments: await named(
      (page) => reads.transactions(organization.id, { status: ["PENDING", "PROCESSING"], createdBefore: end }, page),
      ({ id, accountId, type, status, amountCents, rail, createdAt }) => ({
        transaction_id: id,
        account_id: accountId,
        type: type.toLowerCase(),
        status: status.toLowerCase(),
        amount: formatSigned(amountCents),
        rail,
        created_at: timeOf(createdAt),
      }),
    ),
    deposits: await named(
      (page) => reads.deposits(organization.id, { status: ["UNALLOCATED", "RETURNING"], createdBefore: end }, page),
      ({ id, rail, receipt, amountCents, status, createdAt }) => ({
        deposit_id: id,
        rail,
        receipt,
        amount: formatSigned(amountCents),
        status: status.toLowerCase(),
        created_at: timeOf(createdAt),
      }),
    ),
    proposals: { items: own.map(proposalOf), has_more: proposals.length === NAMED_MAX },
  };
}

function proposalOf({ id, content, person, proposedAt }: Proposal): object {
  return { proposal_id: id, act: nameIn(content), proposed_by: person, proposed_at: timeOf(proposedAt) };
}

function timeOf(millis: UnixMillis): string {
  return new Date(millis).toISOString();
}
