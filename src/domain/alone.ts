import type { AlonePerson } from "./proposal.js";
import type { OrganizationId } from "./values/ids.js";
import { nairobiDayOf } from "./values/nairobi-day.js";
import type { UnixMillis } from "./values/time.js";

/**
 * What one person does alone in a day of Nairobi is at most this many times what they may do alone
 * in one act. Otherwise many small acts would do what one large act may not.
 */
const ALONE_IN_A_DAY = 10;

/** An act that its amount judges, whatever the policy is. */
export interface Judged {
  readonly amountCents: number;
  /** The highest amount that one person alone may decide. */
  readonly maxCents: number;
}

/** What a person did alone in the day of the newest act that counts. */
export interface AloneSum {
  readonly person: AlonePerson;
  readonly cents: number;
}

/** The sum of a person, and when it was so. */
export interface PersonalSum extends AloneSum {
  readonly organizationId: OrganizationId;
  readonly at: UnixMillis;
}

/**
 * Returns the person's sum after an act that the person may do alone. Undefined if another person
 * must approve it: it is too large, or the acts of the day are.
 */
export function sumAfter(
  { amountCents, maxCents }: Judged,
  {
    person,
    before,
    now,
  }: { readonly person: AlonePerson; readonly before: PersonalSum | undefined; readonly now: UnixMillis },
): AloneSum | undefined {
  const isToday = before !== undefined && nairobiDayOf(before.at) === nairobiDayOf(now);
  const cents = (isToday ? before.cents : 0) + amountCents;
  return amountCents <= maxCents && cents <= maxCents * ALONE_IN_A_DAY ? { person, cents } : undefined;
}
