import type { RequireReceipts } from "../../../domain/book/require-receipts.js";
import { parsePhoneNumber } from "../../../domain/values/phone-number.js";
import type { RegisterDepositsResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse, type RpcResult } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { act } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const fields = fieldsOf({ ...OPERATORS_KINDS, contact_phone_number: { as: "contact", parse: parsePhoneNumber } });

/** Registers an account at a rail for deposits. The row about receipts shows who did it. */
export function registerDeposits(options: HandlersOptions): RpcRoute {
  const { depositRegistration } = options;
  return organizationRpc("registerDeposits", {
    ...fields("rail", "contact_phone_number", "note"),
    run: async ({ rail, contact, note }, caller): Promise<RpcResult<RegisterDepositsResponse>> => {
      let refused: RpcResult<RegisterDepositsResponse> | undefined;
      const mayBegin = async (): Promise<boolean> => {
        const fields = { name: "requireReceipts", isRequired: true, note } as const;
        const acted = await act<RequireReceipts, true>(options, { fields }, caller, () => true);
        if (acted.kind === "refused") refused = acted;
        return acted.kind === "done";
      };
      const registered = await depositRegistration.register(caller.organization, { rail, contact, mayBegin });
      switch (registered.kind) {
        case "registered": {
          const { since, keptAddresses } = registered;
          return done({ deposits_since: toTimestamp(since), kept_addresses: keptAddresses });
        }
        case "no account":
          return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
        case "unusable": {
          const field = { field: "rail", message: registered.problem, code: "FORMAT" } as const;
          return refuse({ reason: "INVALID_FIELD", fields: [field] });
        }
        case "failed":
          return refuse({ reason: "RAIL_REGISTRATION_FAILED", rail, code: registered.code });
        case "ended":
          if (refused === undefined) throw new Error("nobody ended the registration");
          return refused;
      }
    },
  });
}
