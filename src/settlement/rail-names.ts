import { Turns } from "../../runtime/turns.js";
import { type DestinationKind, type RailName, railNameOf } from "../domain/destination.js";
import type { RailAccountId } from "../domain/payment.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { NameAnswer, NamedParty } from "../rails/rail.js";
import {
  NAME_CALLS_MAX,
  NAME_LACKING_MILLIS,
  NAME_MILLIS_MAX,
  NAME_UNANSWERED_MILLIS,
  NAMES_WAITING_MAX,
} from "./limits.js";
import type { NamesAtRails, RailAccount, RailAccounts } from "./ports/rail-accounts.js";
import type { OnEvent, SettlementTiming } from "./ports/runtime.js";

interface RailNamesOptions {
  readonly railAccounts: Pick<RailAccounts, "accountsOf">;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/** After these answers nothing is asked for a while. */
const RESTS_MILLIS: Readonly<Partial<Record<NameAnswer["kind"], number>>> = {
  lacking: NAME_LACKING_MILLIS,
  unanswered: NAME_UNANSWERED_MILLIS,
};

/**
 * Asks rails what they call the numbers of new destinations. Nothing depends on an answer, so each
 * server asks on its own, a rail account with few calls at a time.
 */
export class RailNames implements NamesAtRails {
  readonly #options: RailNamesOptions;
  readonly #turns = new Map<RailAccountId, Turns<RailAccountId>>();
  /** When questions begin again, by the account as it is set, and the kind of number. */
  readonly #restsUntil = new Map<string, number>();

  constructor(options: RailNamesOptions) {
    this.#options = options;
  }

  tells(organizationId: OrganizationId, kind: DestinationKind): boolean {
    return this.#accountFor(organizationId, kind) !== undefined;
  }

  async nameOf(organizationId: OrganizationId, party: NamedParty, millisMax: number): Promise<RailName | undefined> {
    const account = this.#accountFor(organizationId, party.kind);
    if (account === undefined) return undefined;
    const call = new AbortController();
    const answered = new AbortController();
    const late = this.#options.timing
      .wait(Math.min(millisMax, NAME_MILLIS_MAX), answered.signal)
      .then((): undefined => {
        call.abort();
      });
    try {
      const asked = this.#turnsOf(account.id).run(account.id, () => this.#ask(account, party, call.signal));
      return await Promise.race([asked, late]);
    } finally {
      answered.abort();
    }
  }

  #accountFor(organizationId: OrganizationId, kind: DestinationKind): RailAccount | undefined {
    return this.#options.railAccounts
      .accountsOf(organizationId)
      .find(
        (account) =>
          account.rail.nameOf !== undefined &&
          account.rail.capabilities("REDEEM").destinations?.[kind] !== undefined &&
          account.refused !== "app" &&
          !this.#rests(account, kind),
      );
  }

  async #ask(account: RailAccount, party: NamedParty, signal: AbortSignal): Promise<RailName | undefined> {
    // The time was over in the line, or the question before this one had no answer.
    if (signal.aborted || this.#rests(account, party.kind)) return undefined;
    const { timing, onEvent } = this.#options;
    try {
      const answer = await account.rail.nameOf?.(party, signal);
      if (answer === undefined) return undefined;
      const restsMillis = RESTS_MILLIS[answer.kind];
      if (restsMillis !== undefined)
        this.#restsUntil.set(nameFor(account, party.kind), timing.monotonicMillis() + restsMillis);
      return answer.kind === "told" ? railNameOf(answer.name) : undefined;
    } catch (error) {
      // A rail never rejects.
      onEvent({ kind: "error", error });
      return undefined;
    }
  }

  #rests(account: RailAccount, kind: DestinationKind): boolean {
    const name = nameFor(account, kind);
    const until = this.#restsUntil.get(name);
    if (until === undefined) return false;
    if (until > this.#options.timing.monotonicMillis()) return true;
    this.#restsUntil.delete(name);
    return false;
  }

  #turnsOf(id: RailAccountId): Turns<RailAccountId> {
    const turns = this.#turns.get(id) ?? new Turns({ runningMax: NAME_CALLS_MAX, waitingMax: NAMES_WAITING_MAX });
    this.#turns.set(id, turns);
    return turns;
  }
}

function nameFor({ id, revision }: RailAccount, kind: DestinationKind): string {
  return [id, revision, kind].join(" ");
}
