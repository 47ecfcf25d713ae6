import type { Account, AccountWithFreeze } from "../../../../src/domain/account.js";
import type { Command, Resource } from "../../../../src/domain/operations.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { Outcome } from "../../../../src/ledger/ports/outcome.js";
import { isProposal, plain } from "../../../support/acted.js";
import { OPERATION_ROWS } from "../../../support/operations/table.js";
import type { Books } from "../disks/disk.js";
import { mustBe, Violation } from "../report/violation.js";
import type { Wish } from "./wish.js";

/** The rows of all cells. */
type Rows = Pick<Books, "accounts" | "transactions" | "journal">;
type Done = Extract<Outcome<Resource>, { kind: "done" }>;

/** An acknowledgement, as a caller keeps it. */
interface Receipt {
  readonly wish: Wish;
  readonly command: Command;
  readonly resource: Account | Transaction;
}

/** The commands that make a resource with a new id. A repeat must get the same. */
const MAKES: ReadonlySet<Command["name"]> = new Set(["createAccount", "mint", "redeem", "reverseTransaction"]);

/**
 * The acknowledgements of all callers, and what they oblige the ledger to have. They know no model
 * and no commit: only the answers.
 */
export class Receipts {
  readonly #receipts: Receipt[] = [];
  readonly #refused: Wish[] = [];
  readonly #abandoned: Wish[] = [];
  /** The resource that each reference, user_id and idempotency key names. */
  readonly #named = new Map<string, string>();
  /** The accounts that somebody wanted erased or closed. Their user_ids may name others later. */
  readonly #unwanted = new Set<string>();
  /** How often a change of status was acknowledged as done, and not as a replay. */
  readonly #changes = new Map<string, number>();

  sent(command: Command): void {
    if (command.name === "eraseAccount" || command.name === "closeAccount") this.#unwanted.add(command.accountId);
  }

  acknowledged(wish: Wish, command: Command, { resource: made, replayed }: Done): void {
    const isNothing = "deposit" in made && made.deposit === undefined && made.transaction === undefined;
    if (isProposal(made) || isNothing) return;
    if ("account" in made) return;
    const resource = plain(made);
    if ("sums" in resource || "secretSha256" in resource || "credits" in resource || "usableAt" in resource) return;
    for (const [name, id] of namesOf(command, resource)) {
      const before = this.#named.get(name);
      const mayChange = [before, id].some((each) => each !== undefined && this.#unwanted.has(each));
      if (before !== undefined && before !== id && !mayChange) {
        throw new Violation(`what ${name} names`, before, id, "doubled");
      }
      this.#named.set(name, id);
    }
    // The judge compares what other commands do with the model.
    const kind = OPERATION_ROWS[command.name].changes;
    if (MAKES.has(command.name)) {
      this.#receipts.push({ wish, command, resource });
    } else if (kind !== undefined && !replayed) {
      const name = `${kind} of ${"freeze" in resource ? resource.freeze.id : resource.id}`;
      this.#changes.set(name, (this.#changes.get(name) ?? 0) + 1);
    }
  }

  /** Records a wish of which each try was refused, or never started. */
  refused(wish: Wish): void {
    this.#refused.push(wish);
  }

  /** Records a wish whose outcome is unknown. */
  abandoned(wish: Wish): void {
    this.#abandoned.push(wish);
  }

  /**
   * The wishes that made something: a repeat of each must get the same resource. Leaves out the
   * accounts that were erased or closed: their users may come back, and get new ones. Leaves out
   * those whose personal data is another now, too: their repeat is refused.
   */
  repeatable({ accounts }: Rows): readonly { readonly wish: Wish; readonly id: string }[] {
    const byId = new Map(accounts.map((account) => [account.id as string, account]));
    return this.#receipts
      .filter(({ command, resource }) => {
        if (command.name !== "createAccount") return true;
        const { status, person } = byId.get(resource.id) ?? {};
        const isSame = person?.phoneNumber === command.phoneNumber && person.email === command.email;
        return status !== "CLOSED" && isSame;
      })
      .map(({ wish, resource }) => ({ wish, id: resource.id }));
  }

  /** Returns the number of acknowledged effects that it has found. */
  check(books: Rows): number {
    const resources = countBy([...books.accounts, ...books.transactions], ({ id }) => id);
    const references = countBy(books.transactions, ({ reference }) => reference);
    const carried = (wish: Wish): number => {
      let sum = 0;
      for (const reference of wish.references) sum += references.get(reference) ?? 0;
      return sum;
    };
    for (const { wish, resource } of this.#receipts) {
      once(`${resource.id}, which was acknowledged`, resources.get(resource.id));
      if (!wish.shared && carried(wish) > 1) throw doubled(wish, carried(wish));
    }
    for (const wish of this.#abandoned) {
      if (!wish.shared && carried(wish) > 1) throw doubled(wish, carried(wish));
    }
    for (const wish of this.#refused) {
      if (!wish.shared) mustBe(`what ${[...wish.references].join(", ")} made, which was refused`, 0, carried(wish));
    }
    const rows = countBy(
      books.journal,
      ({ kind, accountId, transactionId, freezeId }) =>
        `${kind} of ${transactionId ?? freezeId ?? accountId ?? "the organization"}`,
    );
    for (const [name, times] of this.#changes) {
      const found = rows.get(name) ?? 0;
      if (found < times) throw new Violation(`${name}, acknowledged`, times, found, "lost");
    }
    let changes = 0;
    for (const times of this.#changes.values()) changes += times;
    return new Set(this.#receipts.map(({ resource }) => resource.id)).size + changes;
  }
}

function doubled({ references }: Wish, times: number): Violation {
  return new Violation(`how often ${[...references].join(", ")} was done`, "at most once", times, "doubled");
}

function once(what: string, found: number | undefined): void {
  if (found === 1) return;
  throw new Violation(what, "there once", found ?? "nowhere", found === undefined ? "lost" : "doubled");
}

/** The names that a command gave, each with the id of what it names. */
function namesOf(
  command: Command,
  resource: Account | AccountWithFreeze | Transaction,
): (readonly [name: string, id: string])[] {
  const { organizationId } = resource;
  const { id } = resource;
  const userId = "person" in resource ? resource.person?.userId : undefined;
  const reference = "reference" in resource ? resource.reference : undefined;
  const key = "idempotencyKey" in command ? command.idempotencyKey : undefined;
  const keyed = "freeze" in resource ? resource.freeze.id : id;
  const names = { user: [userId, id], reference: [reference, id], key: [key, keyed] } as const;
  return Object.entries(names).flatMap(([kind, [name, named]]) =>
    name === undefined ? [] : [[`${organizationId} ${kind} ${name}`, named] as const],
  );
}

function countBy<Row>(rows: readonly Row[], nameOf: (row: Row) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const name = nameOf(row);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
