import type { Metrics } from "../../runtime/metrics/metrics.js";
import type { Count, Family, Histogram, Labels, Sample } from "../../runtime/metrics/tally.js";
import type { CallMeter, EndOfCall, RpcMeter } from "../grpc/calls/call-meter.js";
import type { RpcContract } from "../grpc/messages/contract.js";

/** A mint takes some milliseconds, and a call at most KESC_CALL_SECONDS_MAX. */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const TYPES: Readonly<Record<RpcContract["streams"], string>> = {
  none: "unary",
  both: "bidi_stream",
  server: "server_stream",
  client: "client_stream",
};

/** The families that all rpcs share. */
interface Families {
  readonly started: Family<Count>;
  readonly handled: Family<Count>;
  readonly seconds: Family<Histogram>;
  readonly refusals: Family<Count>;
  readonly items: Family<Count>;
}

/** Counts calls under the names of go-grpc-middleware, so that its dashboards fit. */
export class CallCounts implements CallMeter {
  readonly #families: Families;
  readonly #rpcs = new Map<string, RpcCounts>();

  constructor(metrics: Metrics) {
    this.#families = {
      started: metrics.counter({ name: "grpc_server_started_total", help: "Calls that reached a handler." }),
      handled: metrics.counter({ name: "grpc_server_handled_total", help: "Calls that ended, by gRPC status." }),
      seconds: metrics.histogram(
        { name: "grpc_server_handling_seconds", help: "Seconds from the start of a call to its response." },
        CALL_SECONDS,
      ),
      refusals: metrics.counter({
        name: "kesc_refusals_total",
        help: "Calls that were refused, by reason. Those before a handler ran are counted, too.",
      }),
      items: metrics.counter({ name: "kesc_batch_items_total", help: "Items of batches and imports, by result." }),
    };
    metrics.gauge({ name: "kesc_grpc_streams_open", help: "Streams that are open now." }, () => this.#openStreams());
  }

  rpc(contract: RpcContract): RpcMeter {
    const known = this.#rpcs.get(contract.path);
    if (known !== undefined) return known;
    const made = new RpcCounts(contract, this.#families);
    this.#rpcs.set(contract.path, made);
    return made;
  }

  refused(reason: string): void {
    this.#families.refusals.of({ reason }).value += 1;
  }

  #openStreams(): readonly Sample[] {
    const streams = [...this.#rpcs.values()].filter(({ labels }) => labels["grpc_type"] !== "unary");
    return streams.map(({ labels, open }) => ({ labels, value: open }));
  }
}

/** Keeps the series of one rpc at hand: to look them up by their labels would cost more. */
class RpcCounts implements RpcMeter {
  readonly labels: Labels;
  readonly #families: Families;
  readonly #started: Count;
  readonly #seconds: Histogram;
  readonly #handled = new Map<string, Count>();
  #ended = 0;

  constructor({ path, streams }: RpcContract, families: Families) {
    const [, service = "", method = ""] = path.split("/");
    this.labels = { grpc_type: TYPES[streams], grpc_service: service, grpc_method: method };
    this.#families = families;
    this.#started = families.started.of(this.labels);
    this.#seconds = families.seconds.of(this.labels);
  }

  get open(): number {
    return this.#started.value - this.#ended;
  }

  started(): void {
    this.#started.value += 1;
  }

  ended({ code, reason, ms, items, items_refused: refused = 0 }: EndOfCall): void {
    this.#ended += 1;
    this.#seconds.observe(ms / 1_000);
    let handled = this.#handled.get(code);
    if (handled === undefined) {
      handled = this.#families.handled.of({ ...this.labels, grpc_code: codeNameOf(code) });
      this.#handled.set(code, handled);
    }
    handled.value += 1;
    if (reason !== undefined) this.#families.refusals.of({ reason }).value += 1;
    if (items === undefined) return;
    this.#families.items.of({ result: "done" }).value += items - refused;
    this.#families.items.of({ result: "refused" }).value += refused;
  }
}

/** Returns the name that go-grpc-middleware gives to a status, such as InvalidArgument. */
function codeNameOf(code: string): string {
  if (code === "OK") return code;
  if (code === "CANCELLED") return "Canceled";
  return code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
