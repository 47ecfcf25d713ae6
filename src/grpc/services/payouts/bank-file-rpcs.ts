import { createHash } from "node:crypto";

import { type ApprovedBankFile, type BankFileId, bankFileId, parseBankFileId } from "../../../domain/bank-file.js";
import type { DownloadBankFile } from "../../../domain/bank-files/download-bank-file.js";
import { PARTS_MAX } from "../../../domain/book-after.js";
import type { BankNumber } from "../../../domain/destination.js";
import { BANK_RAIL } from "../../../domain/transaction.js";
import { MAX_CENTS } from "../../../domain/values/cents.js";
import { endOfDay, type NairobiDay, nairobiDayOf, parseNairobiDay } from "../../../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { DownloadBankFileResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { PaymentToBank } from "../../../payouts/ports.js";
import type { PaymentFile } from "../../../rails/rail.js";
import type { RailAccount } from "../../../settlement/ports/rail-accounts.js";
import { organizationRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, refuse, type RpcResult } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { toBankFile, toListedBankFile } from "../../messages/operators/bank-files.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { totalsOf } from "../../messages/operators/night.js";
import { act, type ActInput, actRoute, type OperatorCaller } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import { parseOwnPage } from "../pages.js";
import { formatPageToken } from "../paging.js";

const DAYS_MAX = 31;
const DAY_MILLIS = 86_400_000;
/** To read a payment and to decrypt its payee costs as much as this number of rows. */
const ROWS_PER_PAYMENT = 4;

/** The rpcs about payment files for banks. Their reads take the turns of lists. */
export function bankFileRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const fields = fieldsOf({
    ...OPERATORS_KINDS,
    day: (unchecked: string) => parseDay(unchecked, options.now()),
    bank_file_id: { as: "id", parse: parseBankFileId },
  });
  const route = actRoute(options);
  const shown = (file: ApprovedBankFile | undefined) => ({ bank_file: file && toBankFile(file) });
  return {
    collectBankFile: route("collectBankFile", { ...fields("day", "note"), shown }, async ({ day, note }, caller) => {
      const collected = await collect(options, caller, day);
      return collected.kind === "refused" ? collected : done({ ...collected.response, note });
    }),
    downloadBankFile: organizationRpc("downloadBankFile", {
      ...fields("bank_file_id"),
      run: ({ id }, caller) => download(options, caller, id),
    }),
    listBankFiles: listBankFiles(options),
    reportBankFileLost: route("reportBankFileLost", { ...fields("bank_file_id", "note"), shown }),
  };
}

/** Makes the file of the payments that wait. */
async function collect(
  options: HandlersOptions,
  caller: OperatorCaller,
  day: NairobiDay,
): Promise<RpcResult<Omit<ActInput<"collectBankFile">, "note">>> {
  const { organization } = caller;
  const account = accountOf(options, caller);
  if (account === undefined) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail: BANK_RAIL });
  const read = await paymentsInTurn(options, caller, () =>
    options.bankPayments.waiting(organization, account.id, PARTS_MAX),
  );
  if (read.kind === "refused") return read;
  const waiting = withinSum(read.response);
  if (waiting.length === 0) return refuse({ reason: "BANK_PAYMENTS_NOT_FOUND" });
  const changed = waiting.find(({ number }) => number === undefined);
  if (changed !== undefined) return refuse({ reason: "ROW_CHANGED", resourceId: changed.transactionId });
  const payments = waiting
    .map(({ transactionId, amountCents }) => ({ transactionId, amountCents }))
    .toSorted((one, other) => (one.transactionId < other.transactionId ? -1 : 1));
  const named = JSON.stringify([organization.id, account.id, day, payments.map((each) => each.transactionId)]);
  const id = bankFileId(sha256Of(named));
  const sha256 = sha256Of(account.rail.writeFile(fileOf({ id, day }, waiting)));
  return done({ id, railAccountId: account.id, railRevision: account.revision, sha256, day, payments });
}

/** Makes the bytes of a file once more, and gives them to the person with a row of the book. */
async function download(
  options: HandlersOptions,
  caller: OperatorCaller,
  id: BankFileId,
): Promise<RpcResult<DownloadBankFileResponse>> {
  const { organization, who } = caller;
  const closed = (cause: "CHANGED" | "REPORTED") => refuse({ reason: "BANK_FILE_CLOSED", bankFileId: id, cause });
  const file = await options.bankPayments.file(organization, id);
  if (file === undefined) return refuse({ reason: "BANK_FILE_NOT_FOUND", bankFileId: id });
  if (!mayHave(who, file.actor)) return refuse({ reason: "ROLE_REQUIRED", roles: ["finance"] });
  const account = accountOf(options, caller);
  if (account?.id !== file.railAccountId) return closed("CHANGED");
  const read = await paymentsInTurn(options, caller, () => options.bankPayments.inFile(organization, account.id, id));
  if (read.kind === "refused") return read;
  const payments = read.response;
  if (payments.length < file.count) return closed("REPORTED");
  if (payments.some(({ number }) => number === undefined)) return closed("CHANGED");
  const content = account.rail.writeFile(fileOf(file, payments));
  if (sha256Of(content) !== file.sha256) return closed("CHANGED");
  const file_name = `${id}.${content.toString("utf8", 0, 1) === "<" ? "xml" : "csv"}`;
  // The row of the book comes first: nobody has the bytes without one.
  const fields = { name: "downloadBankFile", id } as const;
  return act<DownloadBankFile, DownloadBankFileResponse>(options, { fields }, caller, () => {
    return { bank_file: toBankFile(file), content, file_name };
  });
}

function listBankFiles(options: HandlersOptions): RpcRoute {
  return organizationRpc("listBankFiles", {
    parse: (request, caller) => parseOwnPage(request, caller, "ListBankFiles"),
    run: ({ list, page: { size, beforeSeq } }, caller) => {
      const { organization } = caller;
      const account = beforeSeq === undefined ? accountOf(options, caller) : undefined;
      return pageInTurn(
        { listTurns: options.listTurns, caller },
        async () => {
          const rows = await options.bankPayments.files(organization, { size: size + 1, beforeSeq });
          const waiting =
            account === undefined ? [] : await options.bankPayments.waiting(organization, account.id, PARTS_MAX);
          return { rows, waiting, lookedAt: rows.length + waiting.length * ROWS_PER_PAYMENT };
        },
        ({ rows, waiting }) => ({
          bank_files: rows.slice(0, size).map(toListedBankFile),
          next_page_token: formatPageToken(list, rows.length > size ? rows[size - 1]?.seq : undefined),
          waiting: totalsOf(waiting),
        }),
      );
    },
  });
}

type FilingAccount = RailAccount & { readonly rail: { readonly writeFile: (file: PaymentFile) => Buffer } };

function accountOf(
  { cellOf }: Pick<HandlersOptions, "cellOf">,
  { organization }: Pick<OperatorCaller, "organization">,
): FilingAccount | undefined {
  const account = cellOf(organization).railAccounts.accountOf(organization.id, BANK_RAIL);
  return account?.rail.writeFile === undefined ? undefined : (account as FilingAccount);
}

/** Reads payments at the turn of the caller's lists. Refuses QUEUE_FULL, DEADLINE_EXCEEDED. */
function paymentsInTurn(
  { listTurns }: Pick<HandlersOptions, "listTurns">,
  caller: OperatorCaller,
  read: () => Promise<readonly PaymentToBank[]>,
) {
  return pageInTurn(
    { listTurns, caller },
    async () => {
      const rows = await read();
      return { rows, lookedAt: rows.length * ROWS_PER_PAYMENT };
    },
    ({ rows }) => rows,
  );
}

/** Returns the first payments that make no larger sum than an amount can be. */
function withinSum(payments: readonly PaymentToBank[]): readonly PaymentToBank[] {
  let sum = 0;
  const over = payments.findIndex(({ amountCents }) => {
    sum += amountCents;
    return sum > MAX_CENTS;
  });
  return over < 0 ? payments : payments.slice(0, over);
}

function fileOf(
  { id, day }: { readonly id: BankFileId; readonly day: NairobiDay },
  payments: readonly PaymentToBank[],
): PaymentFile {
  return {
    id,
    day,
    createdAt: toUnixMillis(Math.max(...payments.map(({ acceptedAt }) => acceptedAt))),
    payments: payments.map(({ transactionId, amountCents, number }) => {
      return { transactionId, amountCents, number: number as BankNumber };
    }),
  };
}

/** Whether the person may see whole payees: finance, and those who decided about the file. */
function mayHave({ operator }: OperatorCaller["who"], actor: string): boolean {
  if (operator === undefined || operator.roles.includes("finance")) return true;
  return actor.split(",").includes(operator.id);
}

function parseDay(unchecked: string, now: number): Parsed<NairobiDay> {
  const day = unchecked === "" ? parsed(nairobiDayOf(toUnixMillis(now))) : parseNairobiDay(unchecked);
  if (!day.ok) return day;
  const isPast = endOfDay(day.value) <= now;
  const isLate = day.value > nairobiDayOf(toUnixMillis(now + DAYS_MAX * DAY_MILLIS));
  return isPast || isLate ? unparsed(`must be today or at most ${String(DAYS_MAX)} days later`, "OUT_OF_RANGE") : day;
}

function sha256Of(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
