import type { VNode } from "preact";

const TEXT_LENGTH_MAX = 256;
const WORD_LENGTH_MAX = 16;
const TIME_ZONE = "Africa/Nairobi";
const DAY = new Intl.DateTimeFormat("en-GB", { timeZone: TIME_ZONE, day: "numeric", month: "short", year: "numeric" });
const SHORT_DAY = new Intl.DateTimeFormat("en-GB", { timeZone: TIME_ZONE, day: "numeric", month: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeZone: TIME_ZONE, timeStyle: "medium" });

/** A text that somebody has written. It cannot change the direction or the length of its page. */
export function Text({ children: text }: { readonly children: string }): VNode {
  const characters = Array.from(text);
  const shown = characters.length > TEXT_LENGTH_MAX ? `${characters.slice(0, TEXT_LENGTH_MAX).join("")}…` : text;
  // A long word may break anywhere. A short one would lose letters in a narrow column of a table.
  return <bdi class={characters.length > WORD_LENGTH_MAX ? "text long" : "text"}>{shown}</bdi>;
}

/** A text on one line. A long one lacks its middle, and its title is whole. */
export function Brief({ children: text, most = 16 }: { readonly children: string; readonly most?: number }): VNode {
  const characters = Array.from(text);
  if (characters.length <= most) return <bdi class="text">{text}</bdi>;
  const tail = Math.floor((most - 1) / 2);
  const ends = [characters.slice(0, most - 1 - tail), characters.slice(-tail)].map((part) => part.join(""));
  return (
    <bdi class="text" title={characters.slice(0, TEXT_LENGTH_MAX).join("")}>
      {ends.join("…")}
    </bdi>
  );
}

/** An id, or another text that people copy. */
export function Id({ children }: { readonly children: string }): VNode {
  return <code class="id">{children}</code>;
}

interface PersonProps {
  readonly id: string;
  readonly name: string;
}

/** A person by name and id: two names can look alike. An API key has only its name in a book. */
export function Person({ id, name }: PersonProps): VNode {
  if (id === name) return id === "operator" ? <>a command on the database</> : <Text>{`API key "${name}"`}</Text>;
  return (
    <>
      <Text>{name}</Text> <Id>{id}</Id>
    </>
  );
}

/** What is not known is never shown as zero, or as nothing. */
export function Unknown(): VNode {
  return <span class="unknown">unknown</span>;
}

/** The decimal text of the contract, with commas. It never becomes a float. */
export function moneyText(decimal: string): string {
  const [, sign = "", whole = decimal, fraction = ""] = /^(-?)([0-9]+)(\.[0-9]+)?$/.exec(decimal) ?? [];
  return `${sign === "" ? "" : "−"}${whole.replaceAll(/\B(?=([0-9]{3})+$)/g, ",")}${fraction}`;
}

export function Money({ children }: { readonly children: string | null }): VNode {
  return children === null ? <span class="none">–</span> : <span class="money">{moneyText(children)}</span>;
}

/** Returns the cents of a decimal text. */
export function centsOf(decimal: string): bigint {
  const [, sign = "", whole = "0", fraction = ""] = /^(-?)([0-9]+)(?:\.([0-9]{0,2}))?$/.exec(decimal) ?? [];
  const cents = BigInt(`${whole}${fraction.padEnd(2, "0")}`);
  return sign === "" ? cents : -cents;
}

export function decimalOf(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, "0");
  return `${cents < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Returns the exact difference of two decimal texts. */
export function lessOf(one: string, other: string): string {
  return decimalOf(centsOf(one) - centsOf(other));
}

/** Returns the exact sum of decimal texts. */
export function sumOf(decimals: readonly string[]): string {
  return decimalOf(decimals.reduce((sum, decimal) => sum + centsOf(decimal), 0n));
}

/** Returns "26 Nov 2026, 14:02:10", in Nairobi. */
export function timeText(at: Date): string {
  return `${DAY.format(at)}, ${CLOCK.format(at)}`;
}

/** A moment, in Nairobi. On the day of the page only the clock is shown. */
export function Time({ children }: { readonly children: string | null }): VNode {
  if (children === null) return <span class="none">–</span>;
  const at = new Date(children);
  const isToday = DAY.format(at) === DAY.format(new Date());
  return (
    <time dateTime={children} title={`${timeText(at)} EAT`}>
      {isToday ? CLOCK.format(at) : timeText(at)}
    </time>
  );
}

const MINUTE = new Intl.DateTimeFormat("en-GB", { timeZone: TIME_ZONE, timeStyle: "short" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en-GB", { timeZone: TIME_ZONE, day: "numeric", month: "short" });

/** A moment in a row of a list: "14:02:10" today, "26 Nov, 14:02" this year, or the day. */
export function BriefTime({ children }: { readonly children: string }): VNode {
  const [at, now] = [new Date(children), new Date()];
  const isToday = DAY.format(at) === DAY.format(now);
  const isThisYear = dayText(at).slice(0, 4) === dayText(now).slice(0, 4);
  const day = isThisYear ? `${DAY_OF_YEAR.format(at)}, ${MINUTE.format(at)}` : DAY.format(at);
  return (
    <time dateTime={children} title={`${timeText(at)} EAT`}>
      {isToday ? CLOCK.format(at) : day}
    </time>
  );
}

/** Returns the day in Kenya, such as "2026-11-21". */
export function dayText(at: Date): string {
  return at.toLocaleDateString("en-CA", { timeZone: TIME_ZONE });
}

/** A day in Kenya, such as "2026-11-21". */
export function Day({ children }: { readonly children: string }): VNode {
  return <time dateTime={children}>{dayOf(children)}</time>;
}

/** Returns "21 Nov 2026" for "2026-11-21". */
export function dayOf(day: string): string {
  return DAY.format(new Date(`${day}T12:00:00+03:00`));
}

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** Returns "21 Nov" for "2026-11-21". */
export function shortDayText(day: string): string {
  return SHORT_DAY.format(new Date(`${day}T12:00:00+03:00`));
}

/** Returns an age in its largest unit, such as "3 days". */
export function ageText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, name] = UNITS.find(([size]) => whole >= size) ?? [1, "second"];
  const count = Math.floor(whole / size);
  return `${String(count)} ${name}${count === 1 ? "" : "s"}`;
}

/** How long ago a moment was. */
export function Age({ since }: { readonly since: string }): VNode {
  const at = new Date(since);
  return (
    <time dateTime={since} title={`${timeText(at)} EAT`}>
      {ageText((Date.now() - at.getTime()) / 1_000)}
    </time>
  );
}

/** A name of the contract as words: "outcome_unknown" is "outcome unknown". */
export function words(name: string): string {
  return name.replaceAll(/[_.]/g, " ");
}

const MOVES: Readonly<Record<string, readonly [one: string, all: string]>> = {
  mint: ["mint", "Mints"],
  redeem: ["redemption", "Redemptions"],
};

/** Returns what a limit bounds, such as "Each mint" or "Redemptions in a day". */
export function limitWords(type: string, period: string): string {
  const [one, all] = MOVES[type] ?? [type, type];
  if (period === "held_amount") return `Each ${one} without a release`;
  if (period === "held_day") return `${all} in a day without a release`;
  if (period === "held_new_destination") return "First payout to a number without a release";
  if (period === "held_changed") return "Payout in the week after a changed number or e-mail, without a release";
  return period === "transaction" ? `Each ${one}` : `${all} in a ${period}`;
}

type Tone = "good" | "wait" | "bad" | "note" | "plain";

const MARKS: Readonly<Record<Tone, string>> = { good: "●", wait: "◐", bad: "▲", note: "◆", plain: "○" };
const TONES: Readonly<Record<string, Tone>> = {
  active: "good",
  completed: "good",
  credited: "good",
  approved: "good",
  holds: "good",
  paid: "good",
  done: "good",
  pending: "wait",
  processing: "wait",
  unallocated: "wait",
  returning: "wait",
  proposed: "wait",
  running: "wait",
  waiting: "wait",
  accepted: "wait",
  frozen: "bad",
  failed: "bad",
  broken: "bad",
  revoked: "bad",
  refused: "bad",
  stopped: "bad",
  unknown: "note",
};

/** A status is a word and a mark, so nobody needs to see the colour. */
export function Status({
  children,
  tone = TONES[children] ?? "plain",
}: {
  readonly children: string;
  readonly tone?: Tone;
}): VNode {
  return (
    <span class={`status ${tone}`}>
      <span aria-hidden="true">{MARKS[tone]}</span> {words(children)}
    </span>
  );
}
