import type { Authorized } from "./authority.js";
import { type Book, putIdempotencyKey, refuse, replay, type ResourceId } from "./decision.js";
import type { Refusal } from "./refusal.js";
import type { OrganizationId } from "./values/ids.js";
import type { IdempotencyKey } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/**
 * What a repeat of a creation compares: for each field of the command, its name in the contract and
 * whether the resource has the same value. A new field does not compile without a line here:
 * otherwise a repeat with another value of it would be a replay with the old one. "no content" is
 * for what the caller does not decide, and for what is compared nowhere, with the reason.
 */
export type Comparison<C, Existing, Context = Book> = Readonly<
  Record<Exclude<keyof C, Envelope>, Compared<C, Existing, Context>> & { name?: Compared<C, Existing, Context> }
>;

type Compared<C, Existing, Context> =
  "no content" | readonly [field: string, isSame: (command: C, existing: Existing, context: Context) => boolean];

/** No content of any command. New ids are made for each call. */
type Envelope = keyof Authorized | "idempotencyKey" | `new${string}Id`;

/** Returns the names of the compared fields whose values differ. */
export function differingFields<C, Existing, Context>(
  comparison: Comparison<C, Existing, Context>,
  command: C,
  existing: Existing,
  context: Context,
): readonly string[] {
  return Object.values<Compared<C, Existing, Context>>(comparison).flatMap((compared) =>
    compared === "no content" || compared[1](command, existing, context) ? [] : [compared[0]],
  );
}

interface Keyed {
  readonly organizationId: OrganizationId;
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

interface Earlier<Of> {
  /** Returns what the idempotency key has created, and undefined for a resource of another type. */
  readonly withId: (id: ResourceId) => Of | undefined;
  /** What has the natural key of the command. */
  readonly existing?: Of | undefined;
  /** The refusal if that one differs. */
  readonly refusal?: (existing: Of, differing: readonly string[]) => Refusal;
}

/**
 * Decides a creation that was made before, by its idempotency key or by its natural key. Returns
 * undefined if it is new.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, then the refusal of the natural key.
 */
export function decideRepeat<C extends Keyed, Of extends Parameters<typeof putIdempotencyKey>[1]>(
  comparison: Comparison<C, Of>,
  { book, command, now }: { readonly book: Book; readonly command: C; readonly now: UnixMillis },
  { withId, existing, refusal }: Earlier<Of>,
): ReturnType<typeof refuse> | ReturnType<typeof replay<Of>> | undefined {
  const { organizationId, idempotencyKey } = command;
  const resourceId = idempotencyKey && book.resourceOfIdempotencyKey(organizationId, idempotencyKey);
  if (resourceId !== undefined) {
    const earlier = withId(resourceId);
    return earlier !== undefined && differingFields(comparison, command, earlier, book).length === 0
      ? replay(earlier)
      : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
  }
  if (existing === undefined || refusal === undefined) return undefined;
  const differing = differingFields(comparison, command, existing, book);
  return differing.length === 0
    ? replay(existing, putIdempotencyKey(idempotencyKey, existing, now))
    : refuse(refusal(existing, differing));
}
