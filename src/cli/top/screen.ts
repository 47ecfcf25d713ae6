import { formatCents } from "../../domain/values/cents.js";
import { count, type Paint, painter } from "../terminal.js";
import type { BooksReading, Reading, RpcReading } from "./reading.js";

const RPCS_SHOWN_MAX = 12;
const METHOD_WIDTH = 26;
const FIGURE_WIDTH = 12;
// A lag of the event loop beyond this delays every call.
const SLOW_LOOP_SECONDS = 0.1;
const OLD_QUEUE_SECONDS = 1;
// A server renews its 60 seconds every 15. What is shown may be 10 seconds old, but not less long.
const RENEWED_SECONDS_MIN = 40;

/** Returns the lines of the screen. */
export function linesOf(reading: Reading, { address, colours }: ScreenOptions): string[] {
  const paint = painter(colours);
  const { calls, commits, queue, process } = reading;
  const warned = (isBad: boolean, text: string): string => (isBad ? paint("red", text) : text);
  const refusals = Object.entries(calls.refused_per_second)
    .map(([reason, perSecond]) => `${reason} ${rate(perSecond)}`)
    .join(", ");
  return [
    `${paint("bold", "KESC")}  ${address}  ${paint("dim", reading.at)}`,
    "",
    line("calls", `${rate(calls.per_second)} a second, ${count(calls.streams_open)} streams open`),
    line("refused", refusals === "" ? "none" : paint("yellow", refusals)),
    line(
      "commits",
      `${rate(commits.per_second)} a second, ${commits.commands_each === null ? "–" : rate(commits.commands_each)} commands each, ` +
        `p99 ${seconds(commits.p99_seconds)}${warned(commits.failures_per_second > 0, commits.failures_per_second > 0 ? ", FAILURES" : "")}`,
    ),
    line(
      "queue",
      warned(
        queue.oldest_seconds > OLD_QUEUE_SECONDS,
        `${count(queue.length)} wait, the oldest ${seconds(queue.oldest_seconds)}; ${count(queue.lists_waiting)} lists wait`,
      ),
    ),
    line(
      "process",
      `${process.cores.toFixed(2)} cores, ${count(process.resident_bytes / 1_048_576)} MiB, ` +
        warned(
          process.loop_lag_p99_seconds > SLOW_LOOP_SECONDS,
          `event loop p99 ${seconds(process.loop_lag_p99_seconds)}`,
        ),
    ),
    "",
    ...booksLines(reading.books, paint),
    "",
    paint("dim", rpcLine(["rpc", "a second", "not OK", "p50", "p99"])),
    ...calls.rpcs.slice(0, RPCS_SHOWN_MAX).map((rpc) => lineOfRpc(rpc, paint)),
    ...(calls.rpcs.length === 0 ? ["no call ended in this time"] : []),
  ];
}

export interface ScreenOptions {
  readonly address: string;
  readonly colours: boolean;
}

function booksLines(books: BooksReading | null, paint: Paint): string[] {
  if (books === null) return [paint("red", "The server could not read its database lately.")];
  const alarmed = (isBad: boolean, text: string): string => paint(isBad ? "red" : "green", text);
  const { seals } = books;
  return [
    line("supply", `KES ${formatCents(books.supply_cents)}; organizations: ${count(books.organizations)}`),
    line(
      "shortfall",
      alarmed(
        books.shortfall_cents > 0,
        books.shortfall_cents > 0 ? `KES ${formatCents(books.shortfall_cents)}` : "none",
      ),
    ),
    line(
      "payments",
      `${count(books.payments_open)} open, the oldest ${seconds(books.payments_oldest_seconds)}; ` +
        alarmed(books.payouts_stopped > 0, `${count(books.payouts_stopped)} rail accounts stopped`),
    ),
    line(
      "webhooks",
      `${count(books.webhook_events_behind)} events behind, ${count(books.webhook_events_undelivered)} undelivered; ` +
        alarmed(
          books.webhook_failing_seconds > 0,
          books.webhook_failing_seconds > 0 ? `failing for ${seconds(books.webhook_failing_seconds)}` : "none fails",
        ),
    ),
    line(
      "seals",
      seals === null
        ? "off"
        : `${count(seals.rows_behind)} rows behind, ${seconds(seals.lag_seconds)}; ` +
            alarmed(seals.alarms > 0, seals.alarms > 0 ? `${count(seals.alarms)} ALARMS` : "no alarm"),
    ),
    line("leases", leaseWords(books.lease_left_seconds, alarmed)),
  ];
}

/** Names the leases that no server renews: it has ended, or none has taken the work. */
function leaseWords(
  left: BooksReading["lease_left_seconds"],
  alarmed: (isBad: boolean, text: string) => string,
): string {
  const names = Object.keys(left);
  const unrenewed = Object.entries(left).filter(([, secondsLeft]) => secondsLeft < RENEWED_SECONDS_MIN);
  if (unrenewed.length === 0) return names.length === 0 ? "none" : alarmed(false, `${names.join(", ")}: held`);
  return unrenewed
    .map(([name, secondsLeft]) => {
      return alarmed(true, secondsLeft > 0 ? `${name}: not renewed, free in ${seconds(secondsLeft)}` : `${name}: free`);
    })
    .join("; ");
}

function lineOfRpc(
  { method, per_second, not_ok_per_second, p50_seconds, p99_seconds }: RpcReading,
  paint: Paint,
): string {
  const text = rpcLine([method, rate(per_second), rate(not_ok_per_second), seconds(p50_seconds), seconds(p99_seconds)]);
  return not_ok_per_second > 0 ? paint("yellow", text) : text;
}

function rpcLine([method = "", ...figures]: readonly string[]): string {
  return method.padEnd(METHOD_WIDTH) + figures.map((figure) => figure.padStart(FIGURE_WIDTH)).join("");
}

function line(name: string, text: string): string {
  return `${name.padEnd(11)}${text}`;
}

function rate(value: number): string {
  return value >= 100 || value === 0 ? count(value) : value.toFixed(1);
}

/** A time in the unit in which it is short. Histograms know it up to the end of a bucket. */
function seconds(value: number | null): string {
  if (value === null) return "–";
  if (value === Infinity) return "over all buckets";
  if (value < 1) return `${String(Number((value * 1_000).toPrecision(2)))} ms`;
  if (value < 120) return `${String(Number(value.toPrecision(2)))} s`;
  return value < 7_200 ? `${count(value / 60)} min` : `${count(value / 3_600)} h`;
}
