import type { RpcRoute } from "../calls/route.js";
import { accountActs } from "./accounts/account-acts.js";
import { accountRpcs } from "./accounts/export-account.js";
import { attentionRpcs } from "./book/attention-rpcs.js";
import { bookRpcs } from "./book/book-rpcs.js";
import { journalRpcs } from "./book/journal-rpcs.js";
import { keyRpcs } from "./book/key-rpcs.js";
import { limitRpcs } from "./book/limit-rpcs.js";
import { lookUpRpc } from "./book/look-up-rpc.js";
import { moneyActs } from "./book/money-acts.js";
import { organizationRpcs } from "./book/organization-rpcs.js";
import { overviewRpc } from "./book/overview-rpc.js";
import { reserveActs } from "./book/reserve-acts.js";
import { depositActs } from "./deposits/deposit-acts.js";
import { nightActs } from "./deposits/night-acts.js";
import { monthRpcs } from "./months/month-rpcs.js";
import type { HandlersOptions } from "./operator-options.js";
import { bankFileRpcs } from "./payouts/bank-file-rpcs.js";
import { checkRpcs } from "./payouts/check-rpcs.js";
import { heldActs } from "./payouts/held-acts.js";
import { payoutRpcs } from "./payouts/payout-rpcs.js";
import { operatorRpcs } from "./people/operator-rpcs.js";
import { sessionRpcs, signInRpcs } from "./people/session-rpcs.js";
import { proposalRpcs } from "./proposals/proposal-rpcs.js";
import { railActs } from "./rails/rail-acts.js";
import { railRpcs } from "./rails/rail-rpcs.js";
import { reconcileRpc } from "./rails/reconcile-rpc.js";

/** The rpcs of both services by their names: "createOrganization". */
export function operatorRoutes(options: HandlersOptions): Readonly<Record<string, RpcRoute>> {
  return {
    ...organizationRpcs(options),
    ...keyRpcs(options),
    ...limitRpcs(options),
    ...accountActs(options),
    ...railActs(options),
    ...reserveActs(options),
    ...moneyActs(options),
    ...depositActs(options),
    ...nightActs(options),
    ...attentionRpcs(options),
    ...bookRpcs(options),
    ...journalRpcs(options),
    ...lookUpRpc(options),
    ...overviewRpc(options),
    ...railRpcs(options),
    ...reconcileRpc(options),
    ...monthRpcs(options),
    ...payoutRpcs(options),
    ...heldActs(options),
    ...checkRpcs(options),
    ...bankFileRpcs(options),
    ...accountRpcs(options),
    ...operatorRpcs(options),
    ...proposalRpcs(options),
    ...signInRpcs(options),
    ...sessionRpcs(options),
  };
}
