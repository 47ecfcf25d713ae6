import { LISTED_KINDS, type ListedKind, type ListedText, parseListed } from "../../../../src/domain/payout-list.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId } from "../../../../src/domain/values/ids.js";
import { by, type CommandOf } from "../../../support/commands.js";
import { valid } from "../../../support/names.js";
import { setPayoutList } from "../../../support/operations/payouts.js";
import { accountOf, payeeOf, tillOf } from "./given-organization.js";
import type { Commit, May, RailWorld } from "./rail-world.js";

const STEPS_MAX = 8;
const REST_MILLIS = [0, 0, 100, 1_000, 60_000, 10 * 60_000];
const PERSONS = ["opr_a", "opr_b", "opr_c"] as const;

/** The redemptions that one entry of a list holds, by the words of docs/payouts.md. */
export interface ListedPayouts {
  readonly holds: (redemption: Pick<Transaction, "destinationId">) => boolean;
}

interface Entry extends ListedPayouts {
  readonly texts: readonly ListedText[];
  readonly kind: ListedKind;
  /** How probable it is that a new list has it. */
  readonly share: number;
}

/**
 * Keeps the list of payouts that are held of one organization. It adds entries and leaves some out,
 * sends a list again, and lets another person send it, also when a later list stands.
 */
export class ListKeeper {
  /** The entries of each list, by its hash. */
  readonly lists = new Map<string, readonly Entry[]>();
  readonly #world: RailWorld;
  readonly #organizationId: OrganizationId;
  readonly #commit: Commit;
  readonly #entries: readonly Entry[];
  readonly #commands: CommandOf<"setPayoutList">[] = [];
  #newest: readonly Entry[] = [];
  #stepsLeft: number;
  #nextAt = 0;

  constructor(world: RailWorld, organizationId: OrganizationId, commit: Commit) {
    this.#world = world;
    this.#organizationId = organizationId;
    this.#commit = commit;
    this.#entries = entriesOf(organizationId);
    this.#stepsLeft = 1 + world.random.below(STEPS_MAX);
  }

  /** When it acts next, since the run began. Undefined: never. */
  get nextAt(): number | undefined {
    return this.#stepsLeft > 0 ? this.#nextAt : undefined;
  }

  offer(may: May): void {
    if (this.#stepsLeft === 0 || this.#world.millis < this.#nextAt) return;
    may(3, () => {
      this.#stepsLeft -= 1;
      this.#nextAt = this.#world.millis + this.#world.random.pick(REST_MILLIS);
      const command = this.next();
      void this.#commit(command).then((done) => {
        this.#world.tally.count("lists", `${command.ended === 0 ? "longer" : "shorter"}: ${done}`);
      });
    });
  }

  /** Returns the command of a person that sets a new list, or one of the last two. */
  next(): CommandOf<"setPayoutList"> {
    const { random } = this.#world;
    const before = this.#commands.at(-1 - random.below(2));
    const command = before !== undefined && random.chance(0.6) ? before : this.#newList();
    return { ...command, ...by(random.pick(PERSONS)) };
  }

  #newList(): CommandOf<"setPayoutList"> {
    const { random, disk } = this.#world;
    const keptShare = random.pick([1, 0.6]);
    const entries = this.#entries.filter((entry) =>
      random.chance(this.#newest.includes(entry) ? keptShare : entry.share),
    );
    const texts = entries.flatMap((entry) => entry.texts);
    const stored = disk.storeList(this.#organizationId, texts);
    const counts = Object.fromEntries(
      LISTED_KINDS.map((kind) => [kind, entries.filter((entry) => entry.kind === kind).length]),
    ) as Record<ListedKind, number>;
    const command = setPayoutList(this.#organizationId, { ...stored, counts });
    this.#commands.push(command);
    this.#newest = entries;
    this.lists.set(stored.hash, entries);
    return command;
  }
}

/** The entries that lists may have: of the organization's own, and of strangers. */
function entriesOf(organizationId: OrganizationId): readonly Entry[] {
  const everything = (): boolean => true;
  const nothing = (): boolean => false;
  const toTill: Entry["holds"] = ({ destinationId }) => destinationId === tillOf(organizationId);
  const toPayee: Entry["holds"] = ({ destinationId }) => destinationId === payeeOf(organizationId);
  const written = (kind: ListedKind, value: string): Pick<Entry, "kind" | "texts"> => ({
    kind,
    texts: valid(parseListed(kind, value)),
  });
  return [
    // The ids of simulated accounts are not those that people write.
    { kind: "account", texts: [`account ${accountOf(organizationId)}` as ListedText], share: 0.1, holds: everything },
    { ...written("number", "0712 345 678"), share: 0.1, holds: everything },
    { ...written("number", "5432321"), share: 0.3, holds: toTill },
    { ...written("number", "01175 1104567890"), share: 0.2, holds: toPayee },
    { ...written("name", "DOE, Jane"), share: 0.2, holds: toPayee },
    { ...written("number", "0722 000 000"), share: 0.3, holds: nothing },
    { ...written("name", "Jane Roe"), share: 0.3, holds: nothing },
  ];
}
