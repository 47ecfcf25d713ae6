import type { Account } from "../../../domain/account.js";
import { REVEAL_REASONS, type RevealAccount } from "../../../domain/accounts/reveal-account.js";
import { parseKnownTier, parseTierName } from "../../../domain/limits/limits.js";
import { RevealReason as RevealReasonMessage } from "../../../gen/kesc/admin/v1/resources.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { actorOf } from "../../calls/call-context.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { toAccountMessage } from "../../messages/account.js";
import { enumOf, parseRequiredWord } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { parseFields } from "../../messages/fields.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { actRoute, submitAct } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const REVEALS = enumOf(RevealReasonMessage, "REVEAL_REASON", REVEAL_REASONS);

const fields = fieldsOf({
  ...OPERATORS_KINDS,
  reason: (reason: RevealReasonMessage) => parseRequiredWord(reason, REVEAL_REASONS, REVEALS),
  tier: parseTierName,
});

/** The rpcs that change accounts of users. */
export function accountActs(options: HandlersOptions): Record<string, RpcRoute> {
  const act = actRoute(options);
  const shown = (account: Account | undefined) => ({
    account: account && toAccountMessage(account),
  });
  return {
    revealAccount: revealAccount(options),
    setAccountTier: act(
      "setAccountTier",
      { ...fields("account_id", "tier", "note"), shown },
      async (given, { organization }) => {
        const limits = await options.cellOf(organization).reads.limits(organization.id);
        const known = parseFields({ tier: parseKnownTier(given.tier, limits) });
        return known.ok ? done(given) : refuse({ reason: "INVALID_FIELD", fields: known.fields });
      },
    ),
    eraseAccount: act("eraseAccount", { ...fields("account_id", "note"), shown }),
  };
}

function revealAccount(options: HandlersOptions): RpcRoute {
  return organizationRpc("revealAccount", {
    showsPersonalData: true,
    ...fields("account_id", "reason", "note"),
    run: async (given, caller) => {
      const by = { organizationId: caller.organization.id, actor: actorOf(caller.who) };
      const command: RevealAccount = { name: "revealAccount", ...by, ...given };
      const outcome = await submitAct(options, command, caller);
      if (outcome.kind === "refused") return outcome;
      // The ledger has refused an account that was erased.
      const { phoneNumber = "", email = "" } = outcome.resource.person ?? {};
      return done({ phone_number: phoneNumber, email });
    },
  });
}
