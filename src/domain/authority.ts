import type { Change } from "./change.js";
import type { Decider, Proposal } from "./proposal.js";
import type { Actor } from "./values/actor.js";
import type { DepositId, OrganizationId, ProposalId, TransactionId } from "./values/ids.js";
import type { Sealed } from "./values/sealed.js";
import type { UnixMillis } from "./values/time.js";

/** New ids of a command that can wait for a second person. They are no content. */
export interface NewIds {
  readonly newDepositId: DepositId;
  readonly newTransactionId: TransactionId;
}

/**
 * The groups of commands that can need a second person:
 *
 * - `resume`: to end the suspension of an organization.
 * - `write_keys`: a key of a live organization that may do more than read.
 * - `limits`: a limit that rises or ends.
 * - `rails`: an account at a rail, the default rail, and that payouts begin.
 * - `erase`: a person's data, for ever.
 * - `unfreeze`: to lift a freeze of an account.
 * - `reserve`: what lies in a place.
 * - `payouts`: a file of payouts.
 */
export const BOOK_GROUPS = [
  "resume",
  "write_keys",
  "limits",
  "rails",
  "erase",
  "unfreeze",
  "reserve",
  "payouts",
] as const;

/**
 * The groups of acts that can need a second person: those of books, and `operators`: a new
 * operator, other roles, another key, one more passkey. An admin who did that alone could invent a
 * second person, and approve own proposals as that one.
 */
export const FOUR_EYES_GROUPS = ["operators", ...BOOK_GROUPS] as const;

export type FourEyesGroup = (typeof FOUR_EYES_GROUPS)[number];

/**
 * Stands where a group does, for an act that widens what one person may do alone, or overrules the
 * check of payouts. It takes two persons under every policy, but in a sandbox: otherwise one could
 * first widen, and then act.
 */
export const WIDENS_ALONE = "widens alone";

/**
 * For an act that ends what holds payouts. It takes two persons under every policy, and in a
 * sandbox where files of payouts do.
 */
export const LETS_GO = ["payouts", WIDENS_ALONE] as const;

/** Who commands, and what that person may do. The ledger cannot read who the operators are. */
export interface Authority {
  /** The operator, or "operator" for the machine. */
  readonly person: Decider;
  /** Whether the person is the name of an API key. By the contract its proposals never lapse. */
  readonly isOfKey?: true;
  /** Whether the person may approve what another one has proposed. */
  readonly mayApprove: boolean;
  /** The groups of which no person decides alone. None for the machine. */
  readonly groups: readonly (FourEyesGroup | typeof WIDENS_ALONE)[];
  readonly newProposalId: ProposalId;
  /**
   * Since when operators, and the machine, may propose the command without a break. An equal
   * command is no approval if the proposer is not here, or proposed before that.
   */
  readonly proposers?: ReadonlyMap<Decider, UnixMillis>;
  /** The proposal that the command carries out. Its content is that of the command. */
  readonly approves?: ProposalId | undefined;
  /** Who has proposed what the command does. Only `withSecondPerson` sets it. */
  readonly proposer?: Decider;
}

/** The organization of a command, and who sent it. */
export interface Commanded {
  readonly organizationId: OrganizationId;
  readonly actor: Actor;
  /** Whether the ledger only decides. Then nothing is done, and no other command sees it. */
  readonly dryRun?: boolean;
}

/** A command that can need a second person. All but these fields is its content. */
export interface Authorized extends Commanded {
  readonly name: string;
  readonly authority: Authority;
  /** A secret that the command stores. */
  readonly sealed?: Sealed | undefined;
  /** What the caller has read, and the decision needs. It is no content: an approval reads anew. */
  readonly facts?: object | undefined;
  /**
   * What the command changes, as people are shown it. A proposal stores it, and the command of an
   * approver has it from there.
   */
  readonly shown?: readonly Change[] | undefined;
  /** Whether a dry run tells what would be done, also if it takes a second person. */
  readonly isPreview?: boolean | undefined;
}

/** What an operator's command returns: what it did, or the proposal that waits in place of it. */
export type Acted<Resource> =
  | {
      readonly resource: Resource;
      readonly proposal?: undefined;
      /** Only of a preview: whether another person must approve it. */
      readonly needsSecondPerson?: boolean;
    }
  | { readonly resource?: undefined; readonly proposal: Proposal; readonly needsSecondPerson?: undefined };
