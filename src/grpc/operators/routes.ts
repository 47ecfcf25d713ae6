import type { RpcRoute } from "../calls/route.js";
import { accountActs } from "./account-acts.js";
import { accountRpcs } from "./account-rpcs.js";
import { attentionRpcs } from "./attention-rpcs.js";
import { bookRpcs } from "./book-rpcs.js";
import { depositActs } from "./deposit-acts.js";
import { journalRpcs } from "./journal-rpcs.js";
import { keyRpcs } from "./key-rpcs.js";
import { limitRpcs } from "./limit-rpcs.js";
import { lookUpRpc } from "./look-up-rpc.js";
import { moneyActs } from "./money-acts.js";
import { nightActs } from "./night-acts.js";
import { operatorRpcs } from "./operator-rpcs.js";
import type { HandlersOptions } from "./options.js";
import { organizationRpcs } from "./organization-rpcs.js";
import { overviewRpc } from "./overview-rpc.js";
import { proposalRpcs } from "./proposal-rpcs.js";
import { railActs } from "./rail-acts.js";
import { railRpcs } from "./rail-rpcs.js";
import { reconcileRpc } from "./reconcile-rpc.js";
import { reserveActs } from "./reserve-acts.js";
import { sessionRpcs, signInRpcs } from "./session-rpcs.js";

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
    ...accountRpcs(options),
    ...operatorRpcs(options),
    ...proposalRpcs(options),
    ...signInRpcs(options),
    ...sessionRpcs(options),
  };
}
