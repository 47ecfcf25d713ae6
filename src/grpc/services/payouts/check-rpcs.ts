import type { StandingCheck } from "../../../checks/ports.js";
import { CHECK_ANSWERS, NO_ANSWERS, parseDeadline } from "../../../domain/payout-check.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import {
  CheckAnswer,
  CheckNoAnswer,
  type PayoutCheck as PayoutCheckMessage,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { enumOf, parseRequiredWord } from "../../messages/enums.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { actRoute, type OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

const NO_ANSWER_MESSAGES = enumOf(CheckNoAnswer, "CHECK_NO_ANSWER", NO_ANSWERS);
const SAID = CHECK_ANSWERS.filter((answer) => answer !== "NO_ANSWER");
const ANSWER_MESSAGES = enumOf(CheckAnswer, "CHECK_ANSWER", SAID);

/** The rpcs about the check of payouts. */
export function checkRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { payoutChecks } = options;
  const act = actRoute(options);
  const fields = fieldsOf({
    ...OPERATORS_KINDS,
    url: (unchecked: string) => withoutQuery(payoutChecks.parseUrl(unchecked)),
    deadline_seconds: parseDeadline,
    no_answer: (unchecked: CheckNoAnswer) => parseRequiredWord(unchecked, NO_ANSWERS, NO_ANSWER_MESSAGES),
    new_secret: (unchecked: boolean) => parsed(unchecked),
  });
  return {
    setPayoutCheck: act("setPayoutCheck", {
      ...fields("url", "deadline_seconds", "no_answer", "note", "new_secret"),
      shown: (check) => ({ payout_check: check && toCheckMessage({ check, secrets: [] }) }),
    }),
    clearPayoutCheck: act("clearPayoutCheck", { ...fields("note"), shown: () => ({}) }),
    getPayoutCheck: organizationRpc("getPayoutCheck", {
      ...fields(),
      run: async (_, { organization, who }) => {
        const standing = await payoutChecks.standing(organization);
        if (standing === undefined) return refuse({ reason: "PAYOUT_CHECK_NOT_FOUND" });
        return done({ payout_check: toCheckMessage(maySeeSecret(who) ? standing : { ...standing, secrets: [] }) });
      },
    }),
    testPayoutCheck: organizationRpc("testPayoutCheck", {
      ...fields(),
      run: async (_, { organization }) => {
        const standing = await payoutChecks.standing(organization);
        if (standing === undefined) return refuse({ reason: "PAYOUT_CHECK_NOT_FOUND" });
        const { answer, problem, ...asked } = await payoutChecks.test(organization.id, standing);
        if (answer === undefined)
          return done({ answer: CheckAnswer.CHECK_ANSWER_UNSPECIFIED, code: undefined, problem });
        const { code } = asked as { readonly code?: string };
        return done({ answer: ANSWER_MESSAGES[answer], code, problem: undefined });
      },
    }),
  };
}

/** The book keeps the url as it is, so no secret may stand in it. */
function withoutQuery(url: Parsed<string>): Parsed<string> {
  return url.ok && url.value.includes("?") ? unparsed("must have no query: the requests are signed") : url;
}

function maySeeSecret({ operator }: OperatorCaller["who"]): boolean {
  return operator === undefined || operator.roles.includes("admin");
}

function toCheckMessage({ check, secrets: [secret] }: StandingCheck): PayoutCheckMessage {
  return {
    url: check.url,
    deadline_seconds: check.deadlineSeconds,
    no_answer: NO_ANSWER_MESSAGES[check.noAnswer],
    set_at: toTimestamp(check.recordedAt),
    secret: secret && `whsec_${secret.base64}`,
  };
}
