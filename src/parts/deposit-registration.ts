import { toUUID, type TypeId } from "typeid-js";

import type { UnixMillis } from "../domain/values/time.js";
import type { DepositRegistration } from "../operators/rails.js";
import { WrongRailAccountError } from "../rails/rail-kind.js";
import { toldCodeOf, wordsOf } from "../rails/told-code.js";
import { callbackUrls } from "../startup/callbacks.js";
import { type Callbacks, openRail } from "../startup/rails.js";
import { cellOf, type Database } from "../storage/database.js";
import { beginDeposits } from "../storage/rails/deposits.js";
import { storedRailAccount } from "../storage/rails/rail-accounts.js";

interface RegistrationOptions {
  /** Undefined if this program does not know where rails call back. */
  readonly callbacks: () => Callbacks | undefined;
  /** The hosts at which live accounts may be, beside those of the rails. */
  readonly hosts: readonly string[];
  readonly now: () => UnixMillis;
}

/** The rail is called twice. */
const MILLIS_MAX = 60_000;
const KEPT = "URLS_ALREADY_REGISTERED";

/** Implements the port `DepositRegistration`. */
export function depositRegistration(
  database: Pick<Database, "cells">,
  { callbacks: callbacksNow, hosts, now }: RegistrationOptions,
): DepositRegistration {
  return {
    async register(organization, { rail: name, contact, mayBegin }) {
      const cell = cellOf(database, organization);
      const account = await storedRailAccount(cell, organization.id, name);
      if (account === undefined) return { kind: "no account" };
      const callbacks = callbacksNow();
      if (callbacks === undefined) {
        return {
          kind: "unusable",
          problem: "needs KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE on this server",
        };
      }
      const callbackUrl = callbackUrls(callbacks.settings, callbacks.secrets, cell.number);
      const opened = await openRail(cell, account, { callbackUrl, hosts, now }).catch((error: unknown) => {
        if (error instanceof WrongRailAccountError) return undefined;
        throw error;
      });
      if (opened === undefined) return { kind: "unusable", problem: "must have an account that can be used" };
      if (opened.receivedPayments === undefined || opened.registerForDeposits === undefined) {
        return { kind: "unusable", problem: "must be a rail that lists received payments" };
      }
      const signal = AbortSignal.timeout(MILLIS_MAX);
      const listFailure = await opened.registerForReceivedPayments?.(contact, signal);
      if (listFailure !== undefined) return { kind: "failed", code: wordsOf(opened, toldCodeOf(listFailure)) };
      const uuid = toUUID(account.id as string as TypeId<"rail">);
      const urls = {
        confirmationUrl: callbackUrl("confirmation", uuid),
        validationUrl: callbackUrl("validation", uuid),
      };
      const failure = await opened.registerForDeposits(urls, signal);
      if (failure !== undefined && failure !== KEPT)
        return { kind: "failed", code: wordsOf(opened, toldCodeOf(failure)) };
      // Only now the book changes: a rail that refuses leaves everything as it was.
      if (!(await mayBegin())) return { kind: "ended" };
      const since = await beginDeposits(cell, account.id, now());
      return { kind: "registered", since, keptAddresses: failure === KEPT };
    },
  };
}
