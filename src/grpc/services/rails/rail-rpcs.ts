import { formatCents } from "../../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import {
  ProbeResult,
  type RailAccountStatus as RailAccountStatusMessage,
  type StatementWords as StatementWordsMessage,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import { PROBED_RESULTS, type RailAccountStatus } from "../../../operators/rails.js";
import { statementSettings } from "../../../rails/rail-kind.js";
import { railNamed } from "../../../rails/rails.js";
import type { StatementWords } from "../../../rails/statement.js";
import type { ReportedBalance } from "../../../statements/ports.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { ListTurns } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { enumOf } from "../../messages/enums.js";
import { toRailBalance } from "../../messages/history/supply.js";
import { fields } from "../../messages/operators/fields.js";
import { toRailAccount } from "../../messages/operators/messages.js";
import { toTimestamp } from "../../messages/timestamp.js";
import type { HandlersOptions } from "../operator-options.js";

const SECOND_MILLIS = 1_000;
/** The next probe of a person waits as long as after a list that looked at this number of rows. */
const ROWS_OF_PROBE = 20_000;
const PROBES_UNDER_WAY_MAX = 16;
const RESULTS = enumOf(ProbeResult, "PROBE_RESULT", PROBED_RESULTS);

/** The rpcs that read one account at a rail. */
export function railRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { cellOf, railProbes, railReads, now } = options;
  // A probe waits for the rail, and must not hold up the lists of others.
  const turns = new ListTurns({ now: () => toUnixMillis(now()), underWayMax: PROBES_UNDER_WAY_MAX });
  return {
    getRailAccount: organizationRpc("getRailAccount", {
      ...fields("rail"),
      run: async ({ rail }, { organization }) => {
        const status = await railReads.railAccount(organization, rail);
        if (status === undefined) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
        const balances = await cellOf(organization).history.railBalances(organization.id);
        const own = balances.filter((balance) => balance.rail === rail);
        return done({ status: toStatus(status, own, toUnixMillis(now())) });
      },
    }),
    probeRailAccount: organizationRpc("probeRailAccount", {
      ...fields("rail"),
      run: async ({ rail }, caller) => {
        // One after another: each of a person's probes waits for the rail.
        const page = await turns.page(caller, async () => {
          const products = await railProbes.probe(caller.organization, rail);
          return { products, rows: [], nextBeforeSeq: undefined, lookedAt: ROWS_OF_PROBE };
        });
        if ("reason" in page) return refuse(page);
        if (page.products === undefined) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
        return done({
          products: page.products.map(({ result, ...product }) => ({ ...product, result: RESULTS[result] })),
        });
      },
    }),
  };
}

function toStatus(
  status: RailAccountStatus,
  balances: readonly ReportedBalance[],
  now: UnixMillis,
): RailAccountStatusMessage {
  const { account } = status;
  return {
    account: toRailAccount(account),
    settings: status.settings,
    revision: BigInt(account.revision),
    begin_within_seconds: BigInt(Math.floor(account.beginWithinMillis / SECOND_MILLIS)),
    confirm_above: formatCents(account.confirmAboveCents),
    resolve_alone_max: formatCents(account.resolveAloneMaxCents),
    float_min: formatCents(account.floatMinCents),
    warnings: Object.keys(account.warnings),
    credentials_expire_soon: status.credentialsExpireSoon,
    open_payments: BigInt(status.openPayments),
    unknown_payouts: BigInt(status.unknownPayouts),
    oldest_unknown_at: timeOf(status.oldestUnknownAt),
    unknown_transaction_ids: [...status.unknownTransactionIds],
    begins_payouts: status.beginsPayouts,
    balances: balances.map((balance) => toRailBalance(balance, now)),
    problem: status.problem,
    deposits_since: timeOf(status.depositsSince),
    deposits_read_at: timeOf(status.depositsReadAt),
    statement_words: wordsOf(status),
  };
}

function wordsOf({ account, settings }: RailAccountStatus): StatementWordsMessage[] {
  const kind = railNamed(account.rail);
  if (kind?.statement === undefined) return [];
  const { words } = statementSettings(kind, settings);
  return Object.entries(kind.statement.words).map(([name, known]) => ({
    kind: name,
    built_in: [...known],
    own: [...(words?.[name as keyof StatementWords] ?? [])],
  }));
}

function timeOf(at: UnixMillis | undefined): ReturnType<typeof toTimestamp> | undefined {
  return at === undefined ? undefined : toTimestamp(at);
}
