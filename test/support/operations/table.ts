import type { DestinationNumber } from "../../../src/domain/destination.js";
import type { JournalEntry } from "../../../src/domain/journal.js";
import type { Command } from "../../../src/domain/operations.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { type Cents, MAX_CENTS, NO_CENTS } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { ALONE, asOperator, type CommandOf } from "../commands.js";
import { depositReference, newProposalId, RAIL_TERMS, SLOW_RAIL } from "../names.js";
import { createAccount, createDestination, ON_ACCOUNTS, setLimits } from "./accounts.js";
import { ON_BANK_FILES, PAYEE } from "./bank-files.js";
import { createApiKey, ON_BOOKS } from "./book.js";
import { CORRECTIONS } from "./corrections.js";
import { ON_DEPOSITS } from "./deposits.js";
import { clearPayoutCheck, ON_PAYOUTS, setPayoutCheck } from "./payouts.js";
import { ON_RAILS, setRailAccount } from "./rails.js";
import type { ExampleBook, OperationRow, OperationRows, ProposalExample } from "./row.js";
import { beginPayment, completePayment, failPayment, flag, mint, ON_TRANSACTIONS, redeem } from "./transactions.js";
import { ON_WEBHOOKS } from "./webhooks.js";

/** All operations. The examples are done in this order. */
const TABLE = {
  ...ON_ACCOUNTS,
  ...ON_TRANSACTIONS,
  ...ON_DEPOSITS,
  ...CORRECTIONS,
  ...ON_BOOKS,
  ...ON_RAILS,
  ...ON_WEBHOOKS,
  ...ON_PAYOUTS,
  ...ON_BANK_FILES,
} satisfies OperationRows;

type Table = typeof TABLE;
/** The operations that the models know. */
type ModelledName = {
  [Name in keyof Table]: Table[Name] extends { readonly inSuspension: string } ? Name : never;
}[keyof Table];

/** The row of each operation. */
export const OPERATION_ROWS: { readonly [Name in Command["name"]]: OperationRow<Name> } = TABLE;

const NAMES = Object.keys(OPERATION_ROWS) as readonly Command["name"][];

/** The names of the commands that the models of the property test and of the simulation know. */
export const MODELLED = NAMES.filter((name) => OPERATION_ROWS[name].inSuspension !== undefined);

export function isModelled(command: Command): command is CommandOf<ModelledName> {
  return MODELLED.includes(command.name);
}

/** Throws if the command moves money, and the models do not know it. */
export function mustBeModelled(command: Command, entries: readonly Pick<JournalEntry, "posting">[]): void {
  if (isModelled(command) || entries.every(({ posting }) => posting === undefined)) return;
  throw new Error(`${command.name} moves money, and its row in test/support/operations has no inSuspension`);
}

/** Whether the command holds while its organization is suspended. */
export function holdsInSuspension({ name, actor }: Command): boolean {
  const { inSuspension = "nobody" } = OPERATION_ROWS[name];
  return inSuspension === "everybody" || (inSuspension === "operators" && actor === OPERATOR);
}

/** The modelled commands that the property test and the simulation send. */
export const SENT_AT_RANDOM = MODELLED.filter((name) => OPERATION_ROWS[name].notRandom === undefined);

/** Each proposal of the table, by the operation and what else it is about. */
export const PROPOSED: Readonly<Record<string, ProposalExample>> = Object.fromEntries(
  NAMES.flatMap((name) => {
    const { proposed, alsoProposed = [] } = OPERATION_ROWS[name];
    const others = alsoProposed.map(({ about, ...example }): [string, ProposalExample] => {
      return [`${name} ${about}`, { thereAndBack: "the first proposal has them", ...example }];
    });
    return proposed === undefined ? [] : [[name, proposed], ...others];
  }),
);

/** The example of each operation. They are done in this order, after `setup`. */
export function oneOfEach(organizationId: OrganizationId): {
  readonly setup: readonly Command[];
  readonly operations: readonly Command[];
} {
  const made = new Map<Command["name"], Command>();
  const of = <Name extends Command["name"]>(name: Name): CommandOf<Name> => {
    const example = made.get(name) ?? OPERATION_ROWS[name].example(book);
    made.set(name, example);
    return example as CommandOf<Name>;
  };
  const leaving = createAccount(organizationId, "leaving");
  const { accountId: payerId, orders, setup } = givenOrders(organizationId);
  const proposal = {
    scopes: ["accounts:write"],
    secretSha256: "b".repeat(64),
    // Its group needs a second person, so it waits.
    authority: { ...ALONE, groups: ["write_keys"], newProposalId: newProposalId() },
  } as const;
  const book: ExampleBook = {
    organizationId,
    get accountId() {
      return of("createAccount").newAccountId;
    },
    leavingId: leaving.newAccountId,
    payerId,
    orders,
    proposalId: proposal.authority.newProposalId,
    of,
  };
  return {
    setup: [
      leaving,
      createDestination(organizationId, leaving.newAccountId, { number: "5432322" as DestinationNumber }),
      ...setup,
      createApiKey(organizationId, proposal),
      // It lets one person decide.
      setRailAccount(organizationId, { resolveAloneMaxCents: MAX_CENTS }),
    ],
    operations: NAMES.map((name) => asOperator<Command>(of(name))),
  };
}

/** An account with orders in several states, and a shortfall of 1.00. */
function givenOrders(organizationId: OrganizationId) {
  const user = createAccount(organizationId, "rail", { depositReferences: [depositReference(0)] });
  const { newAccountId: accountId } = user;
  const movement = { organizationId, accountId, rail: SLOW_RAIL, amount: "1.00" };
  const ready = mint({ ...movement, reference: "ready" });
  const unbegun = redeem({ ...movement, reference: "unbegun" });
  const flagged = mint({ ...movement, reference: "flagged" });
  const doubted = redeem({ ...movement, reference: "doubted" });
  const lost = redeem({ ...movement, reference: "lost" });
  const held = redeem({ ...movement, reference: "held" });
  const unwanted = redeem({ ...movement, reference: "unwanted" });
  const checked = redeem({ ...movement, reference: "checked" });
  const holdAbove = (amount: Cents | "NONE") =>
    setLimits(organizationId, { type: "REDEEM", changes: { HELD_AMOUNT: amount } });
  const payee = createDestination(organizationId, accountId, { kind: "BANK", number: PAYEE, coolingMillis: 0 });
  const terms = { destinations: { BANK: RAIL_TERMS.payable } };
  const toBank = {
    ...redeem({ ...movement, terms, reference: "to a bank" }),
    destinationId: payee.newDestinationId,
  };
  const late = redeem({ ...movement, reference: "paid late" });
  const setup: readonly Command[] = [
    user,
    mint({ organizationId, accountId, amount: "1.00", reference: "first" }),
    late,
    failPayment(organizationId, late.newTransactionId),
    redeem({ organizationId, accountId, amount: "1.00", reference: "all" }),
    completePayment(organizationId, late.newTransactionId, { movement: "late" }),
    mint({ organizationId, accountId, amount: "10.00", reference: "more" }),
    ready,
    unbegun,
    flagged,
    flag(organizationId, flagged.newTransactionId),
    doubted,
    beginPayment(organizationId, doubted.newTransactionId),
    flag(organizationId, doubted.newTransactionId),
    lost,
    beginPayment(organizationId, lost.newTransactionId),
    payee,
    toBank,
    holdAbove(NO_CENTS),
    held,
    unwanted,
    holdAbove("NONE"),
    setPayoutCheck(organizationId),
    checked,
    clearPayoutCheck(organizationId),
  ];
  const orders = {
    ready: ready.newTransactionId,
    unbegun: unbegun.newTransactionId,
    flagged: flagged.newTransactionId,
    doubted: doubted.newTransactionId,
    lost: lost.newTransactionId,
    held: held.newTransactionId,
    unwanted: unwanted.newTransactionId,
    checked: checked.newTransactionId,
    toBank: toBank.newTransactionId,
  };
  return { setup, accountId, orders };
}
