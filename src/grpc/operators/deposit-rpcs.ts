import type { Organization } from "../../domain/api-key.js";
import type { DepositId, OrganizationId } from "../../domain/values/ids.js";
import {
  GetDepositRequest,
  GetDepositResponse,
  ListDepositsRequest,
  ListDepositsResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { done } from "../calls/rpc-result.js";
import { toDepositMessage } from "../messages/deposit.js";
import { fieldProblem, parseFields } from "../messages/fields.js";
import { parseDepositList } from "../services/deposit-service.js";
import type { ListTurns } from "../services/list-turns.js";
import { formatPageToken } from "../services/paging.js";
import type { ServedCell } from "../services/served-cell.js";
import { parseId } from "./fields.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { pageInTurn, readOrganization } from "./reading.js";

export interface DepositRpcsOptions extends HandlersOptions {
  /** Returns the cell of an organization. */
  readonly cellOf: (organization: Pick<Organization, "cell">) => Pick<ServedCell, "reads">;
  /** The turns of the organizations' lists. */
  readonly listTurns: ListTurns;
}

/** The rpcs that read deposits. */
export function depositRpcs(unary: OperatorUnary, options: DepositRpcsOptions): Record<string, OperatorRoute> {
  const { cellOf, listTurns } = options;
  return {
    listDeposits: unary({
      request: ListDepositsRequest,
      response: ListDepositsResponse,
      parse: (request) => {
        const organizationId = parseId<OrganizationId>(request.organization_id);
        if (!organizationId.ok) return fieldProblem("organization_id", organizationId.problem, organizationId.code);
        return parseDepositList(request, organizationId.value);
      },
      run: ({ list, filters, page }, caller) =>
        readOrganization(options, list.organizationId, (found) =>
          pageInTurn(
            { listTurns, caller },
            () => cellOf(found).reads.deposits(list.organizationId, filters, page),
            ({ rows, nextBeforeSeq }) => ({
              deposits: rows.map(toDepositMessage),
              next_page_token: formatPageToken(list, nextBeforeSeq),
            }),
          ),
        ),
    }),
    getDeposit: unary({
      request: GetDepositRequest,
      response: GetDepositResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          deposit_id: parseId<DepositId>(request.deposit_id),
        }),
      run: ({ organization_id: organizationId, deposit_id: depositId }) =>
        readOrganization(options, organizationId, async (found) => {
          const deposit = await cellOf(found).reads.deposit(organizationId, depositId);
          return deposit === undefined
            ? { kind: "refused", refusal: { reason: "DEPOSIT_NOT_FOUND", depositId } }
            : done({ deposit: toDepositMessage(deposit) });
        }),
    }),
  };
}
