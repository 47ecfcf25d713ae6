import type { CreateDestination } from "../../../src/domain/accounts/create-destination.js";
import type { CorrectBook } from "../../../src/domain/book/correct-book.js";
import type { AssignDeposit } from "../../../src/domain/deposits/assign-deposit.js";
import type { ReturnDeposit } from "../../../src/domain/deposits/return-deposit.js";
import type { ReverseDeposit } from "../../../src/domain/deposits/reverse-deposit.js";
import type { Command } from "../../../src/domain/operations.js";
import type { ResolveTransaction } from "../../../src/domain/orders/resolve-transaction.js";
import type { FlagReason } from "../../../src/domain/payment.js";
import type { Decider } from "../../../src/domain/proposal.js";
import { type Cents } from "../../../src/domain/values/cents.js";
import type { EmailAddress } from "../../../src/domain/values/email-address.js";
import type { AccountId, DepositId, FreezeId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import type { StatusReason } from "../../../src/domain/values/text.js";
import type { Random } from "../../attack/random.js";
import {
  assignDeposit,
  beginPayment,
  cancel,
  clearFlag,
  closeAccount,
  completePayment,
  correctBook,
  createAccount,
  createDestination,
  depositReference,
  eraseAccount,
  failPayment,
  flag,
  freezeAccount,
  mint,
  type Movement,
  receiptNamed,
  receiveDeposit,
  redeem,
  removeDestination,
  resolve,
  returnDeposit,
  revealAccount,
  reverse,
  reverseDeposit,
  setAccountTier,
  setLimits,
  SLOW_RAIL,
  unfreezeAccount,
  updateAccount,
} from "../../support/commands.js";

const FLAGS: readonly FlagReason[] = ["OUTCOME_UNKNOWN", "REPORT_DIFFERS"];
const TIERS = ["small", "full"];
const NOBODY = "txn_nobody" as TransactionId;

/** An act that a second person must want, too. */
type ActOfTwo = ResolveTransaction | CorrectBook | AssignDeposit | ReturnDeposit | ReverseDeposit;
/** The deposit references that accounts may have. */
const NUMBERS = 20;

/** Makes commands that meet one another: on few accounts, and mostly on the newest transactions. */
export class RandomCommands {
  readonly #random: Random;
  readonly #organizationId: OrganizationId;
  readonly #accounts: AccountId[] = [];
  readonly #transactions: TransactionId[] = [];
  /** Those that were given to a rail. */
  readonly #orders: TransactionId[] = [];
  readonly #freezes: (readonly [AccountId, FreezeId])[] = [];
  #names = 0;

  constructor(random: Random, organizationId: OrganizationId) {
    this.#random = random;
    this.#organizationId = organizationId;
  }

  next(): Command {
    if (this.#accounts.length === 0) return this.#newAccount();
    const command = this.#random.pickWeighted(this.#makers).make();
    if (command.name === "mint" || command.name === "redeem") {
      this.#transactions.push(command.newTransactionId);
      if (command.rail === SLOW_RAIL) this.#orders.push(command.newTransactionId);
    }
    const words = this.#name("why") as StatusReason;
    // The words of an act of two persons are content, so those of both are equal.
    const isOfTwo = "authority" in command && ("amountCents" in command || "depositId" in command);
    if ("note" in command && !isOfTwo) return { ...command, note: words };
    return "reason" in command ? { ...command, reason: words } : command;
  }

  readonly #deposits: DepositId[] = [];
  readonly #destinations: CreateDestination[] = [];
  readonly #wanted: ActOfTwo[] = [];
  readonly #makers: readonly { readonly weight: number; readonly make: () => Command }[] = [
    { weight: 3, make: () => this.#newAccount() },
    { weight: 16, make: () => mint(this.#movement()) },
    { weight: 8, make: () => redeem(this.#movement()) },
    { weight: 20, make: () => beginPayment(this.#organizationId, this.#order()) },
    { weight: 22, make: () => this.#report() },
    { weight: 3, make: () => failPayment(this.#organizationId, this.#order()) },
    { weight: 14, make: () => flag(this.#organizationId, this.#order(), this.#random.pick(FLAGS)) },
    { weight: 20, make: () => clearFlag(this.#organizationId, this.#order(), this.#random.pick(FLAGS)) },
    { weight: 4, make: () => cancel(this.#organizationId, this.#order()) },
    { weight: 15, make: () => this.#resolution() },
    { weight: 5, make: () => reverse(this.#organizationId, this.#newest(this.#transactions)) },
    { weight: 2, make: () => this.#freeze() },
    { weight: 12, make: () => this.#unfreeze() },
    { weight: 3, make: () => closeAccount(this.#organizationId, this.#newestAccount()) },
    { weight: 1, make: () => eraseAccount(this.#organizationId, this.#newestAccount()) },
    { weight: 3, make: () => this.#update() },
    { weight: 14, make: () => this.#correction() },
    { weight: 4, make: () => this.#payByHand() },
    { weight: 8, make: () => this.#endDeposit() },
    { weight: 2, make: () => setAccountTier(this.#organizationId, this.#newestAccount(), this.#random.pick(TIERS)) },
    { weight: 1, make: () => this.#limits() },
    { weight: 1, make: () => this.#addDestination() },
    { weight: 1, make: () => this.#removeDestination() },
    { weight: 1, make: () => revealAccount(this.#organizationId, this.#newestAccount()) },
  ];

  #name(what: string): string {
    this.#names += 1;
    return `${what}-${String(this.#names)}`;
  }

  #newest(transactions: readonly TransactionId[]): TransactionId {
    const newest = transactions.slice(-4);
    return newest.length === 0 ? NOBODY : this.#random.pick(newest);
  }

  #order(): TransactionId {
    return this.#newest(this.#orders);
  }

  #newestAccount(): AccountId {
    return this.#accounts.at(-1) ?? this.#random.pick(this.#accounts);
  }

  #newAccount(): Command {
    const command = createAccount(this.#organizationId, this.#name("user"), {
      depositReferences: [depositReference(this.#random.below(NUMBERS))],
    });
    this.#accounts.push(command.newAccountId);
    return command;
  }

  #movement(): Movement {
    return {
      organizationId: this.#organizationId,
      accountId: this.#random.pick(this.#accounts.slice(-3)),
      amount: `${String(this.#random.between(1, 9))}.00`,
      reference: this.#name("ref"),
      description: this.#name("what"),
      metadata: { till: this.#name("till") },
      ...(this.#random.chance(0.6) ? { rail: SLOW_RAIL } : {}),
    };
  }

  #report(): Command {
    const amountCents = this.#random.chance(0.3) ? { amountCents: (this.#random.between(1, 9) * 100) as Cents } : {};
    const order = this.#order();
    const name = this.#random.chance(0.7) ? order : this.#name("late");
    const movement = this.#random.chance(0.7) ? { movement: `movement of ${name}` } : {};
    const receipt = this.#random.chance(0.4) || !("movement" in movement) ? { receipt: `receipt of ${name}` } : {};
    return completePayment(this.#organizationId, order, { ...movement, ...receipt, ...amountCents });
  }

  #resolution(): Command {
    const receipt = receiptNamed(this.#name("receipt"));
    const resolution = this.#random.pick([
      { kind: "FAILED" },
      { kind: "COMPLETED", receipt },
      { kind: "MOVED", receipt, amountCents: 700 as Cents },
    ] as const);
    return this.#wantedByTwo(resolve(this.#organizationId, this.#order(), resolution));
  }

  #limits(): Command {
    // Limits of the organization would soon stop all mints.
    const tier = this.#random.pick(TIERS);
    return setLimits(this.#organizationId, { tier, changes: { DAY: (this.#random.between(50, 90) * 100) as Cents } });
  }

  #freeze(): Command {
    const command = freezeAccount(this.#organizationId, this.#random.pick(this.#accounts.slice(-3)));
    this.#freezes.push([command.accountId, command.newFreezeId]);
    return command;
  }

  #unfreeze(): Command {
    const [accountId, freezeId] =
      this.#freezes.length === 0
        ? [this.#random.pick(this.#accounts), "frz_none" as FreezeId]
        : this.#random.pick(this.#freezes.slice(-6));
    return unfreezeAccount(this.#organizationId, accountId, freezeId);
  }

  #update(): Command {
    const digits = String(this.#random.between(100_000, 999_999));
    return updateAccount(this.#organizationId, this.#random.pick(this.#accounts), {
      phoneNumber: `+254712${digits}` as PhoneNumber,
      email: `${digits}@example.com` as EmailAddress,
    });
  }

  #correction(): Command {
    const name = this.#random.pick([
      "bookReceipt",
      "allocate",
      "recoverShortfall",
      "coverShortfall",
      "bookPayment",
      "adjustMovement",
      "explainTransfer",
    ] as const);
    const needsAccount = name === "allocate" || name === "recoverShortfall";
    const target = needsAccount ? this.#random.pick(this.#accounts) : this.#name("receipt");
    const given = { amountCents: 100, key: this.#name("key") };
    return this.#wantedByTwo(
      correctBook(name, this.#organizationId, name === "coverShortfall" ? given : { ...given, target }),
    );
  }

  #addDestination(): Command {
    const command = createDestination(this.#organizationId, this.#newestAccount());
    this.#destinations.push(command);
    return command;
  }

  #removeDestination(): Command {
    const added = this.#destinations.at(-1) ?? createDestination(this.#organizationId, this.#newestAccount());
    return removeDestination(this.#organizationId, added.accountId, added.newDestinationId);
  }

  #payByHand(): Command {
    const typed = this.#random.pick(["", "my shop", depositReference(this.#random.below(NUMBERS))]);
    const command = receiveDeposit(this.#organizationId, { receipt: this.#name("hand"), typed });
    this.#deposits.push(command.newDepositId);
    return command;
  }

  #endDeposit(): Command {
    const id = this.#deposits.at(-1);
    if (id === undefined) return this.#payByHand();
    const receipt = this.#name("back");
    return this.#wantedByTwo(
      this.#random.pick([
        assignDeposit(this.#organizationId, id, this.#newestAccount()),
        returnDeposit(this.#organizationId, id, receipt),
        reverseDeposit(this.#organizationId, id, { receipt }),
      ]),
    );
  }

  /** Nobody decides alone: mostly a second person wants what the first one has wanted. */
  #wantedByTwo(command: ActOfTwo): Command {
    const kindOf = (each: ActOfTwo): string => ["resolution", "depositId"].find((field) => field in each) ?? "";
    const last = this.#wanted.findLastIndex((each) => kindOf(each) === kindOf(command));
    const [wanted] = this.#random.chance(0.6) && last >= 0 ? this.#wanted.splice(last, 1) : [];
    if (wanted !== undefined) return { ...wanted, authority: { ...wanted.authority, person: "baraka" as Decider } };
    this.#wanted.push(command);
    return command;
  }
}
