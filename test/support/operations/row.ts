import type { JournalKind } from "../../../src/domain/journal.js";
import type { Command, OperatorCommand } from "../../../src/domain/operations.js";
import type { AccountId, OrganizationId, ProposalId, TransactionId } from "../../../src/domain/values/ids.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import type { CommandOf } from "../commands.js";
import type { RpcRequest } from "./things.js";

/** What the tests know of an operation. */
export interface OperationRow<Name extends Command["name"]> {
  /** A command that is done after the examples of the rows above. */
  readonly example: (book: ExampleBook) => CommandOf<Name>;
  /** What a repeat of the example gets, unless it is a replay with the same resource. */
  readonly repeated?: "refusal" | "effect" | "parts that are replays";
  /**
   * Who may send the command for a suspended organization. The models of the property test and of
   * the simulation know the operations that say so. Each that moves money must.
   */
  readonly inSuspension?: "nobody" | "operators" | "everybody";
  /** The kind of its journal row. The simulation counts the rows of what each caller was told. */
  readonly changes?: JournalKind;
  /** How the tests call its public rpc, unless the request is plain. */
  readonly rpc?: RpcRequest;
  /** Its proposal, if it can wait for a second person. */
  readonly proposed?: ProposalExample;
  readonly alsoProposed?: readonly OtherExample[];
  /** Why the property test and the simulation, whose models know it, never send it. */
  readonly notRandom?: string;
}

/** Rows of some operations. Those that can wait for a second person have proposals. */
export type OperationRows<Name extends Command["name"] = Command["name"]> = {
  readonly [Each in Name]: OperationRow<Each> &
    (Each extends Proposed["name"] ? Required<Pick<OperationRow<Each>, "proposed">> : unknown);
};

/** What is there before the examples, and the examples themselves. */
export interface ExampleBook {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  /** Another account. Its examples erase and close it. */
  readonly leavingId: AccountId;
  /** The account of the orders. */
  readonly payerId: AccountId;
  readonly orders: Readonly<
    Record<"ready" | "unbegun" | "flagged" | "doubted" | "lost" | "held" | "unwanted" | "toBank", TransactionId>
  >;
  /** A proposal that waits. */
  readonly proposalId: ProposalId;
  /** The example of another operation. */
  readonly of: <Name extends Command["name"]>(name: Name) => CommandOf<Name>;
}

/** The commands that one person always does: no proposal has one. */
type OfOnePerson =
  | "suspendOrganization"
  | "revokeApiKey"
  | "clearFlag"
  | "setReservePlace"
  | "closeMonth"
  | "downloadBankFile"
  | "stopFile";
export type Proposed = Exclude<OperatorCommand, { readonly name: OfOnePerson }>;

/** A command that waits for a second person. */
export interface ProposalExample {
  readonly rows: Partial<Loaded>;
  readonly command: Proposed;
  /** What the second person is shown: "thing: before > after". */
  readonly shown: readonly string[];
  /**
   * Later commands that change the same thing, and at last make of it what stood before. For what
   * is new, or happens once, the reason why there are none.
   */
  readonly thereAndBack: readonly Command[] | string;
  /** What has changed before the approval, and the difference that refuses it. */
  readonly changed?: readonly [rows: Partial<Loaded>, what: string, before: string, now: string];
}

/** Another proposal of the same operation. */
export type OtherExample = Omit<ProposalExample, "thereAndBack"> &
  Partial<Pick<ProposalExample, "thereAndBack">> & {
    /** What it is about, after the name of the operation. */
    readonly about: string;
  };
