import { randomUUID } from "node:crypto";

import { isCredentialUntried, refusedCredentialOf } from "../domain/rail-account.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { ProbedProduct, RailOwner, RailProbes } from "../operators/rails.js";
import type { ProbeAnswer, RailProbe } from "../rails/probe.js";
import type { PaymentRail } from "../rails/rail.js";
import { WrongRailAccountError } from "../rails/rail-kind.js";
import { callbackUrls } from "../startup/callbacks.js";
import { openRail } from "../startup/rails.js";
import { type Cell, cellOf, type Database } from "../storage/database.js";
import { endQuestion, noteQuestion } from "../storage/rails/balances.js";
import { type StoredRailAccount, storedRailAccount } from "../storage/rails/rail-accounts.js";
import { answerToBalance, type TrialOptions } from "./credentials-trial.js";

/** Five calls and the wait for the balance end before the deadline of a command, 30 seconds. */
const CALL_MILLIS_MAX = 4_000;
const NO_CALLBACKS =
  "The answer comes to KESC_CALLBACK_BASE_URL, which is not set here. Ask a server (--server), or set it with " +
  "KESC_CALLBACK_SECRET_FILE.";
const NO_ANSWER =
  "The rail took the question, and no answer came within 8 seconds. It must reach KESC_CALLBACK_BASE_URL, where a " +
  "gateway and a server of this database run. The log says `no balance` if it refused.";
const ASKED_BEFORE =
  "Another question with this initiator waits for its answer, and a few wrong passwords lock it. Probe again in 2 minutes.";
const GONE = "Somebody has removed the account.";
const FIRST = "The product before it must work first.";
const UNPROVEN = "The initiator is used once, until the rail has taken it for the balance.";
const UNREGISTERED = "Payments without an order are no deposits. To register: kesc rail register-deposits";

interface Probing {
  readonly cell: Cell;
  readonly account: StoredRailAccount;
  readonly rail: PaymentRail;
  readonly hasCallbacks: boolean;
  readonly now: () => UnixMillis;
}

/** Implements the port `RailProbes`. */
export function railProbes(
  database: Pick<Database, "cells">,
  { callbacks: callbacksNow, hosts, now }: Omit<TrialOptions, "isServer">,
): RailProbes {
  return {
    async probe(organization: RailOwner, name) {
      const cell = cellOf(database, organization);
      const account = await storedRailAccount(cell, organization.id, name);
      if (account === undefined) return undefined;
      const callbacks = callbacksNow();
      const callbackUrl = callbacks && callbackUrls(callbacks.settings, callbacks.secrets, cell.number);
      try {
        const rail = await openRail(cell, account, { callbackUrl: callbackUrl ?? (() => ""), hosts, now });
        const probed = await probedBy({ cell, account, rail, hasCallbacks: callbackUrl !== undefined, now });
        return [...probed, ...registrationOf(account, rail)];
      } catch (error) {
        if (!(error instanceof WrongRailAccountError)) throw error;
        return [productOf("account", { result: "wrong", place: "", advice: error.problems.join(" ") })];
      }
    },
  };
}

/** Asks one question after another: the rail may refuse an initiator only once. */
async function probedBy(probing: Probing): Promise<readonly ProbedProduct[]> {
  const answers: ProbedProduct[] = [];
  let blocked: string | undefined;
  // What the rail has refused before is not tried again, until somebody sets it again.
  const refused = isCredentialUntried(probing.account) ? undefined : refusedCredentialOf(probing.account);
  let initiator = refused === "initiator" ? refusedBefore(probing) : undefined;
  if (refused === "app") blocked = refusedBefore(probing);
  for (const probe of probing.rail.probes ?? []) {
    const instead = blocked ?? (probe.usesInitiator === true ? initiator : undefined);
    const answer: ProbeAnswer =
      instead === undefined ? await answerOf(probe, probing) : { result: "not asked", place: "", advice: instead };
    answers.push(productOf(probe.product, answer));
    if (probe.isFirst === true && answer.result !== "works") blocked ??= FIRST;
    if (probe.usesInitiator === true && answer.result !== "works") initiator ??= UNPROVEN;
  }
  return answers;
}

function refusedBefore({ account: { warnings, rail } }: Probing): string {
  const code = String(warnings.CREDENTIALS_REFUSED?.["rail_code"]);
  return `The rail has refused this credential before (${code}), and it is not tried again. Set it: kesc rail set ${rail}`;
}

async function answerOf(probe: RailProbe, { cell, account, hasCallbacks, now }: Probing): Promise<ProbeAnswer> {
  const signal = AbortSignal.timeout(CALL_MILLIS_MAX);
  const question = randomUUID();
  if (probe.answersLater !== true) return probe.ask(signal, question);
  if (!hasCallbacks) return { result: "not asked", place: "", advice: NO_CALLBACKS };
  const standing = await noteQuestion(cell, { id: account.id, question, at: now() });
  if (standing === undefined) return { result: "not asked", place: "", advice: GONE };
  const isOwn = standing === question;
  const asked = isOwn ? await probe.ask(signal, question) : ({ result: "works", place: "" } as const);
  if (asked.result !== "works") {
    // The rail has refused the question itself, so no answer will come.
    if (asked.result !== "unanswered") await endQuestion(cell, { id: account.id, question });
    return asked;
  }
  const answer = await answerToBalance(cell, account, standing);
  if (answer.result === "accepted") return asked;
  if (answer.result !== "refused" && !isOwn) return { result: "not asked", place: "", advice: ASKED_BEFORE };
  if (answer.result !== "refused") return { ...asked, result: "unanswered", advice: NO_ANSWER };
  return { ...asked, result: "wrong", code: answer.code, advice: probe.adviceOn?.(answer.code ?? "") };
}

function registrationOf({ depositsSince }: StoredRailAccount, rail: PaymentRail): readonly ProbedProduct[] {
  if (!("registerForDeposits" in rail)) return [];
  const answer: ProbeAnswer =
    depositsSince === undefined
      ? { result: "not asked", place: "", advice: UNREGISTERED }
      : { result: "works", place: "", advice: `Registered since ${new Date(depositsSince).toISOString()}.` };
  return [productOf("registration for deposits", answer)];
}

function productOf(product: string, { result, code, place, advice }: ProbeAnswer): ProbedProduct {
  return {
    product,
    result: RESULTS[result],
    code,
    place: place === "" ? undefined : place,
    advice,
  };
}

const RESULTS = {
  works: "WORKS",
  lacking: "LACKING",
  wrong: "WRONG",
  unanswered: "UNANSWERED",
  "not asked": "NOT_ASKED",
} as const satisfies Record<ProbeAnswer["result"], ProbedProduct["result"]>;
