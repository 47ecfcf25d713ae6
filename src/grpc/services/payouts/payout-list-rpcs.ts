import { payoutListFromText, type StandingPayoutList } from "../../../domain/payout-list.js";
import type { SetPayoutList } from "../../../domain/payouts/set-payout-list.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type {
  PayoutList,
  SetPayoutListRequest,
  SetPayoutListResponse,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import { FILE_BYTES_MAX } from "../../../reconcile/files/tables.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import { organizationRpc, organizationUpload } from "../../calls/admin-rpc.js";
import { actorOf } from "../../calls/call-context.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse, refuseField } from "../../calls/rpc-result.js";
import { parseFields } from "../../messages/fields.js";
import { parseNote } from "../../messages/operators/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";
import { act } from "../acts.js";
import { readingHistory } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";

/** The rpcs about the list of those to whom payouts are held. */
export function payoutListRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return { setPayoutList: setPayoutList(options), getPayoutList: getPayoutList(options) };
}

function setPayoutList(options: HandlersOptions): RpcRoute {
  return organizationUpload("setPayoutList", {
    parse: ({ note }: SetPayoutListRequest) => parseFields({ note: parseNote(note) }),
    field: "file",
    bytesMax: FILE_BYTES_MAX,
    run: async ({ note }, bytes, caller) => {
      if (bytes.length === 0) return refuseField("file", "is required", "REQUIRED");
      const { organization } = caller;
      const { cellOf, listTurns, payoutLists } = options;
      const of = { organizationId: organization.id, caller, listTurns, reads: cellOf(organization).history };
      return readingHistory(of, async ({ inTurn }) => {
        try {
          const entries = await options.fileReading.ofPayoutList(actorOf(caller.who), bytes, { inTurn });
          if (entries === undefined) return refuse({ reason: "QUEUE_FULL" });
          const stored = await inTurn(async () => {
            const result = await payoutLists.store(organization, entries, toUnixMillis(options.now()));
            return { result, lookedAt: entries.length };
          });
          const command = { fields: { name: "setPayoutList", ...stored, note } } as const;
          return await act<SetPayoutList, SetPayoutListResponse>(options, command, caller, (head) => {
            const { payoutList } = head ?? {};
            return { payout_list: payoutList === undefined ? undefined : toPayoutList(payoutListFromText(payoutList)) };
          });
        } catch (error) {
          if (!(error instanceof StatementError)) throw error;
          return refuseField(
            "file",
            `must be a list of payouts to hold: ${error.message.replace(/\.$/, "")}`,
            "FORMAT",
          );
        }
      });
    },
  });
}

function getPayoutList({ payoutLists }: HandlersOptions): RpcRoute {
  return organizationRpc("getPayoutList", {
    parse: () => ({ ok: true, value: {} }),
    run: async (_input, { organization }) => {
      const list = await payoutLists.standing(organization);
      return done({ payout_list: list && toPayoutList(list) });
    },
  });
}

function toPayoutList({ hash, counts, by, since }: StandingPayoutList): PayoutList {
  const { account: accounts, number: numbers, name: names } = counts;
  return { hash, accounts, numbers, names, set_at: toTimestamp(since), set_by: by };
}
