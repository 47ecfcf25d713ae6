import { toUnixMillis } from "../../domain/values/time.js";
import { WrongRailAccountError } from "../../rails/rail-kind.js";
import { callbackUrls, readCallbackSecrets } from "../../startup/callbacks.js";
import type { Config } from "../../startup/config.js";
import { OperatorError } from "../../startup/operator-error.js";
import { openRail } from "../../startup/rails.js";
import type { Diagnosed, DiagnosedCell } from "../../storage/diagnosis/diagnosed.js";
import { expiresSoon } from "../../storage/rails/rail-account-directory.js";
import { type StoredRailAccount, storedRailAccounts } from "../../storage/rails/rail-accounts.js";
import { checkNamed, type CheckResult, type DoctorFinding } from "./finding.js";

const { fail, ok, warn } = checkNamed("rails");
const SET = "Correct it with kesc rail set (docs/run.md).";

/** Checks each account at a rail as a server would that uses it. Calls no rail. */
export async function checkRails(
  { callbacks, railHosts }: Pick<Config, "callbacks" | "railHosts">,
  { cells }: Diagnosed,
  now: number,
): Promise<CheckResult> {
  let secrets;
  try {
    secrets = callbacks === undefined ? undefined : readCallbackSecrets(callbacks);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return fail(error.message, "Without the file no server starts.");
  }
  const findings: DoctorFinding[] = [];
  let accounts = 0;
  for (const cell of cells) {
    const urls =
      callbacks === undefined || secrets === undefined ? undefined : callbackUrls(callbacks, secrets, cell.number);
    for (const account of await storedRailAccounts(cell)) {
      accounts += 1;
      findings.push(...(await checkAccount(account, { cell, urls, hosts: railHosts, now })));
    }
  }
  if (findings.length > 0) return findings;
  return ok(accounts === 0 ? "No organization has an account at a rail." : "All accounts at rails can be used.");
}

/** Whether an organization has an account at M-Pesa, whose statement `kesc reconcile` compares. */
export async function hasMpesaAccount({ cells }: Diagnosed): Promise<boolean> {
  const accounts = await Promise.all(cells.map((cell) => storedRailAccounts(cell)));
  return accounts.flat().some(({ rail }) => rail === "mpesa");
}

interface RailSurroundings {
  readonly cell: DiagnosedCell;
  readonly urls: ReturnType<typeof callbackUrls> | undefined;
  readonly hosts: readonly string[];
  readonly now: number;
}

async function checkAccount(
  account: StoredRailAccount,
  { cell, urls, hosts, now }: RailSurroundings,
): Promise<readonly DoctorFinding[]> {
  const { organizationId, rail, credentialsExpireAt: expireAt } = account;
  try {
    await openRail(cell, account, { callbackUrl: urls, hosts, now: () => toUnixMillis(now) });
  } catch (error) {
    if (!(error instanceof WrongRailAccountError)) throw error;
    const words = `The account of ${organizationId} at ${rail} cannot be used: ${error.problems.join(" ")}`;
    return [fail(words, SET)];
  }
  if (expireAt === undefined || !expiresSoon(account, toUnixMillis(now))) return [];
  const isOver = expireAt <= now;
  const words = `The credentials of ${organizationId} at ${rail} ${isOver ? "expired" : "expire"} at ${new Date(expireAt).toISOString()}.`;
  const remedy = `Set a new password: kesc rail set ${rail}`;
  return [isOver ? fail(words, remedy) : warn(words, remedy)];
}
