import type { Organization } from "../../../domain/api-key.js";
import type { StopFile } from "../../../domain/payouts/stop-file.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { Payouts, StopFileResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { PartCounts, PayoutOwner, StoredPayouts } from "../../../payouts/ports.js";
import type { InTurn } from "../../../statements/ports.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { parseNote } from "../../messages/operators/fields.js";
import { type Preview, toPayoutRow, toPayouts, toPreview, toRowCounts } from "../../messages/operators/payouts.js";
import { act } from "../acts.js";
import { readingHistory } from "../history/history-turns.js";
import type { HandlersOptions } from "../operator-options.js";
import { parseOwnPage } from "../pages.js";
import { formatPageToken } from "../paging.js";
import { redeemTermsOf } from "./redeem-terms.js";

const SHA256 = /^[0-9a-f]{64}$/;

/** The rpcs about files of payouts that were stored. Their reads take the turns of lists. */
export function storedPayoutRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return {
    getPayouts: getPayouts(options),
    listPayouts: listPayouts(options),
    listPayoutRows: listPayoutRows(options),
    stopFile: stopFile(options),
  };
}

const fields = fieldsOf({
  sha256: parseSha256,
  count_rows: { as: "countRows", parse: parsed<boolean> },
  note: parseNote,
});
const ofFile = fields("sha256");

function parseSha256(unchecked: string): Parsed<string> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return SHA256.test(unchecked) ? parsed(unchecked) : unparsed("must be 64 characters from 0-9 and a-f");
}

function getPayouts(options: HandlersOptions): RpcRoute {
  const { payoutFiles, listTurns, cellOf } = options;
  return organizationRpc("getPayouts", {
    ...fields("sha256", "count_rows"),
    run: ({ sha256, countRows }, caller) => {
      const { organization } = caller;
      const reads = cellOf(organization).history;
      return readingHistory({ organizationId: organization.id, caller, listTurns, reads }, async ({ inTurn }) => {
        const file = await fileInTurn(options, inTurn, { organization, sha256 });
        if (file === undefined) return refuse({ reason: "PAYOUTS_NOT_FOUND", sha256 });
        const counts: PartCounts[] = [];
        for (let part = 1; countRows && part <= file.parts; part += 1) {
          const read = async () => {
            const result = await payoutFiles.counts(organization, file, part);
            return { result, lookedAt: result.items };
          };
          counts.push(await inTurn(read));
        }
        const payouts = toPayouts(file, await problemsOf(options, organization)(file));
        return done({ payouts, preview: toPreview(file.preview as Preview), row_counts: toRowCounts(counts) });
      });
    },
  });
}

/** Stops a file. It refuses what is over, so that nobody believes that a stop came in time. */
function stopFile(options: HandlersOptions): RpcRoute {
  const { listTurns, cellOf } = options;
  return organizationRpc("stopFile", {
    ...fields("sha256", "note"),
    takesPowerAway: () => true,
    run: ({ sha256, note }, caller) => {
      const { organization } = caller;
      const reads = cellOf(organization).history;
      return readingHistory({ organizationId: organization.id, caller, listTurns, reads }, async ({ inTurn }) => {
        const file = await fileInTurn(options, inTurn, { organization, sha256 });
        if (file?.approved === undefined) return refuse({ reason: "PAYOUTS_NOT_FOUND", sha256 });
        const isOver = file.decidedParts === file.parts && file.approved.stoppedAt === undefined;
        if (isOver) return refuse({ reason: "PAYOUTS_ENDED", sha256 });
        const command = { fields: { name: "stopFile", sha256, note } } as const;
        return act<StopFile, StopFileResponse>(options, command, caller, (approved) => ({
          payouts: approved && toPayouts({ ...file, approved }),
        }));
      });
    },
  });
}

function fileInTurn(
  { payoutFiles }: Pick<HandlersOptions, "payoutFiles">,
  inTurn: InTurn,
  { organization, sha256 }: { readonly organization: PayoutOwner; readonly sha256: string },
): Promise<StoredPayouts | undefined> {
  return inTurn(async () => {
    const result = await payoutFiles.file(organization, sha256);
    return { result, lookedAt: result?.parts ?? 1 };
  });
}

/**
 * Says why the rows of a file wait until a person does something. Reads the list that holds payouts
 * once for all files.
 */
function problemsOf(
  { cellOf, phoneCoolingMillis, payoutLists }: HandlersOptions,
  organization: Organization,
): (file: StoredPayouts) => Promise<string | undefined> {
  let isListWhole: Promise<boolean> | undefined;
  return async ({ approved, decidedParts, parts }) => {
    if (approved === undefined || approved.stoppedAt !== undefined || decidedParts === parts) return undefined;
    if (organization.isSuspended) return "The organization is suspended. Resume it, or stop the file.";
    const { railAccounts } = cellOf(organization);
    const { rail } = approved;
    const terms = redeemTermsOf(railAccounts, { organizationId: organization.id, rail, phoneCoolingMillis });
    if (terms === undefined) {
      return `The organization has no account at the rail ${rail} that can be used. Set it, or stop the file.`;
    }
    isListWhole ??= payoutLists.isWhole(organization);
    if (await isListWhole) return undefined;
    return "Somebody has changed the list that holds payouts past the service. Set it again, or stop the file.";
  };
}

/** Returns the files whose rows wait until a person does something. */
export async function waitingPayouts(options: HandlersOptions, organization: Organization): Promise<Payouts[]> {
  const running = await options.payoutFiles.running(organization);
  const problemOf = problemsOf(options, organization);
  const found = await Promise.all(running.map(async (file) => ({ file, problem: await problemOf(file) })));
  return found.flatMap(({ file, problem }) => (problem === undefined ? [] : [toPayouts(file, problem)]));
}

function listPayouts(options: HandlersOptions): RpcRoute {
  const { payoutFiles, listTurns } = options;
  return organizationRpc("listPayouts", {
    parse: (request, caller) => parseOwnPage(request, caller, "ListPayouts"),
    run: ({ list, page: { size, beforeSeq } }, caller) =>
      pageInTurn(
        { listTurns, caller },
        async () => {
          const files = await payoutFiles.approved(caller.organization, { size: size + 1, beforeSeq });
          const problemOf = problemsOf(options, caller.organization);
          const rows = await Promise.all(files.map(async (file) => ({ ...file, problem: await problemOf(file) })));
          return { rows, lookedAt: rows.reduce((sum, { parts }) => sum + parts, rows.length) };
        },
        ({ rows }) => ({
          payouts: rows.slice(0, size).map((file) => toPayouts(file, file.problem)),
          next_page_token: formatPageToken(list, rows.length > size ? rows[size - 1]?.seq : undefined),
        }),
      ),
  });
}

function listPayoutRows({ payoutFiles, listTurns }: HandlersOptions): RpcRoute {
  return organizationRpc("listPayoutRows", {
    parse: (request, caller) => {
      const file = ofFile.parse(request);
      const asked = parseOwnPage(request, caller, "ListPayoutRows", { sha256: request.sha256 });
      if (file.ok && asked.ok) return { ok: true, value: { ...file.value, ...asked.value } };
      return { ok: false, fields: [...(file.ok ? [] : file.fields), ...(asked.ok ? [] : asked.fields)] };
    },
    // The token has the place of the next row in the file.
    run: async ({ sha256, list, page: { size, beforeSeq: from = 0 } }, caller) => {
      const found = await pageInTurn(
        { listTurns, caller },
        async () => {
          const file = await payoutFiles.file(caller.organization, sha256);
          const page = file && (await payoutFiles.items(caller.organization, file, { from, size }));
          return { rows: page?.items ?? [], page, lookedAt: 2 * (page?.items.length ?? 0) + 1 };
        },
        ({ page }) =>
          page && {
            rows: page.items.map(toPayoutRow),
            next_page_token: formatPageToken(list, page.hasMore ? from + size : undefined),
          },
      );
      if (found.kind === "refused") return found;
      return found.response === undefined ? refuse({ reason: "PAYOUTS_NOT_FOUND", sha256 }) : done(found.response);
    },
  });
}
