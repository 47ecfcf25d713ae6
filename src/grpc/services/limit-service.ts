import { parseAccountId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { GetLimitsRequest, GetLimitsResponse, type LimitServiceService } from "../../gen/kesc/v1/limit_service.js";
import { done } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import { ifGiven, parseFields } from "../messages/fields.js";
import { decidedAt, toLimitsMessage } from "../messages/limits.js";
import type { CellOf } from "./served-cell.js";

export interface LimitHandlersOptions {
  readonly cellOf: CellOf;
  readonly now: () => UnixMillis;
}

/** The rpcs of kesc.v1.LimitService. An rpc of the contract without a handler does not compile. */
export function limitHandlers(options: LimitHandlersOptions): Record<keyof LimitServiceService, UnaryRoute> {
  return { getLimits: getLimits(options) };
}

function getLimits({ cellOf, now }: LimitHandlersOptions): UnaryRoute {
  return unary({
    request: GetLimitsRequest,
    response: GetLimitsResponse,
    parse: (request) => parseFields({ account_id: ifGiven(request.account_id, parseAccountId) }),
    run: async ({ account_id: accountId }, { key }) => {
      const { reads } = cellOf(key);
      const account = accountId === undefined ? undefined : await reads.account(key.organizationId, accountId);
      if (accountId !== undefined && account === undefined) {
        return { kind: "refused", refusal: { reason: "ACCOUNT_NOT_FOUND", accountId } };
      }
      const limits = await reads.limits(key.organizationId);
      return done({ limits: toLimitsMessage(limits, account, decidedAt(limits, now())) });
    },
  });
}
