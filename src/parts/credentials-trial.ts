import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import type { RailAccountId } from "../domain/payment.js";
import { isCredentialUntried, refusedCredentialOf } from "../domain/rail-account.js";
import type { Rail } from "../domain/transaction.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { CredentialsTrial, RailOwner } from "../operators/rails.js";
import type { Faulty, PaymentRail } from "../rails/rail.js";
import { WrongRailAccountError } from "../rails/rail-kind.js";
import { callbackUrls } from "../startup/callbacks.js";
import { type Callbacks, openRail } from "../startup/rails.js";
import { type Cell, cellOf, type Database } from "../storage/database.js";
import { accountOfQuestion, endQuestion, noteQuestion } from "../storage/rails/balances.js";
import { type StoredRailAccount, storedRailAccount } from "../storage/rails/rail-accounts.js";

export interface TrialOptions {
  /** Undefined if this program does not know where rails call back: then nothing is tried. */
  readonly callbacks: () => Callbacks | undefined;
  /** Whether this is a server. A command on the database tries the app's credential only. */
  readonly isServer: boolean;
  readonly hosts: readonly string[];
  readonly now: () => UnixMillis;
}

const CALL_MILLIS_MAX = 5_000;
/** M-Pesa was seen to answer within some seconds. A person waits for it. */
const RESULT_MILLIS_MAX = 8_000;
const POLL_MILLIS = 200;

/**
 * Returns a function that tries the credentials of an account once, and says what the rail said.
 * The answer to its question for a balance comes to any server, which stores it.
 */
export function credentialsTrial(
  database: Pick<Database, "cells">,
  { callbacks: callbacksNow, isServer, hosts, now }: TrialOptions,
): (organization: RailOwner, rail: Rail) => Promise<CredentialsTrial | undefined> {
  return async (organization, name) => {
    const cell = cellOf(database, organization);
    const callbacks = callbacksNow();
    if (isServer && callbacks === undefined) return undefined;
    const callbackUrl = callbacks && callbackUrls(callbacks.settings, callbacks.secrets, cell.number);
    const account = await storedRailAccount(cell, organization.id, name);
    if (account === undefined) return undefined;
    // Without an address the app's credential alone is tried: nothing calls back.
    const dependencies = { callbackUrl: callbackUrl ?? (() => ""), hosts, now };
    const rail = await openRail(cell, account, dependencies).catch((error: unknown) => {
      if (error instanceof WrongRailAccountError) return undefined;
      throw error;
    });
    return rail && triedWith(cell, { account, rail, isServer, now });
  };
}

async function triedWith(
  cell: Cell,
  {
    account,
    rail,
    isServer,
    now,
  }: { readonly account: StoredRailAccount; readonly rail: PaymentRail } & Pick<TrialOptions, "isServer" | "now">,
): Promise<CredentialsTrial | undefined> {
  if (rail.tryApp === undefined) return undefined;
  const problem = await rail.tryApp(AbortSignal.timeout(CALL_MILLIS_MAX));
  if (problem !== undefined) return { result: isOfCredentials(problem) ? "refused" : "unanswered", code: problem.code };
  if (!isServer) return { result: "app_accepted" };
  const question = randomUUID();
  const noted = await noteQuestion(cell, { id: account.id, question, at: now() });
  if (noted === undefined) return undefined;
  if (noted === question) {
    const asked = await rail.askBalance(question, AbortSignal.timeout(CALL_MILLIS_MAX));
    if (asked.kind === "unavailable") {
      await endIfRefused(cell, { id: account.id, question }, asked);
      return { result: isOfCredentials(asked) ? "refused" : "unanswered", code: asked.code };
    }
  }
  return answerToBalance(cell, account, noted);
}

/** The rail has not taken the question, so no answer will come. */
async function endIfRefused(
  cell: Cell,
  asked: { readonly id: RailAccountId; readonly question: string },
  { fault }: Faulty,
): Promise<void> {
  if (fault !== undefined) await endQuestion(cell, asked);
}

/** A wrong address or a missing product says nothing of the credentials. */
function isOfCredentials({ fault }: Faulty): boolean {
  return fault?.kind === "credentials";
}

/** Waits for the answer to a question for the balance, which any server stores. */
export async function answerToBalance(
  cell: Cell,
  account: StoredRailAccount,
  question: string,
): Promise<CredentialsTrial> {
  const { id, organizationId, rail, balance: before } = account;
  const until = performance.now() + RESULT_MILLIS_MAX;
  while ((await accountOfQuestion(cell, question)) === id) {
    if (performance.now() >= until) return { result: "unanswered" };
    await wait(POLL_MILLIS);
  }
  // The warning follows the end of the question.
  for (;;) {
    const now = await storedRailAccount(cell, organizationId, rail);
    const code = now?.warnings.CREDENTIALS_REFUSED?.["rail_code"];
    const isRefused = now !== undefined && refusedCredentialOf(now) !== undefined && !isCredentialUntried(now);
    if (isRefused) return { result: "refused", code: String(code) };
    if (now?.balance !== undefined && now.balance.at !== before?.at) return { result: "accepted" };
    if (performance.now() >= until) return { result: "unanswered" };
    await wait(POLL_MILLIS);
  }
}
