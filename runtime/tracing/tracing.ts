import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";

import { type TraceParent, traceParentOf } from "../caller-ids.js";
import { packageFile } from "../files/package-file.js";
import type { Environment } from "../variables.js";
import type { Exporting } from "./otlp.js";
import { atMost, type Sampler, samplerOf, SPANS_PER_SECOND_MAX } from "./sampling.js";

/** A call that is recorded. */
export interface CallSpan {
  readonly parent: TraceParent;
  /** Names the call and ends it. */
  end(name: string, attributes: Attributes, isError: boolean): void;
}

/** The links of one span. OpenTelemetry drops more of them. */
const LINKS_MAX = 128;

const HEX = 16;
const COUNTER_DIGITS = 8;

/** Records calls as spans. A program without an endpoint for them has none. */
export class Tracing {
  readonly #exporting: Exporting;
  readonly #sample: Sampler;
  /** A random text and a number are unique, and cost less than a random id. */
  readonly #prefix = randomBytes(12).toString("hex");
  #made = 0;

  constructor(exporting: Exporting, sample: Sampler) {
    this.#exporting = exporting;
    this.#sample = atMost(SPANS_PER_SECOND_MAX, sample, () => performance.now());
  }

  /** Begins the span of a call that arrived. Undefined if this call is not recorded. */
  begin(name: string, traceparent: unknown): CallSpan | undefined {
    const caller = traceParentOf(traceparent);
    if (!this.#sample(caller)) return undefined;
    const span = this.#exporting.tracer.startSpan(name, { kind: SpanKind.SERVER }, contextOf(caller));
    const { traceId, spanId } = span.spanContext();
    return {
      parent: { traceId, spanId, isSampled: true },
      end: (last, attributes, isError) => {
        endSpan(span.updateName(last), attributes, isError);
      },
    };
  }

  /**
   * Makes a place in a trace that is not recorded, for a call that has none. The next program then
   * does not begin a trace in the middle, and both programs log one trace id.
   */
  unrecorded(): TraceParent {
    this.#made = (this.#made + 1) % HEX ** COUNTER_DIGITS;
    const number = this.#made.toString(HEX).padStart(COUNTER_DIGITS, "0");
    return { traceId: this.#prefix + number, spanId: this.#prefix.slice(0, COUNTER_DIGITS) + number, isSampled: false };
  }

  /**
   * Begins the span of a commit. It belongs to the trace of the first call, and links all of them.
   */
  beginCommit(calls: readonly TraceParent[], attributes: Attributes): (isError: boolean) => void {
    const links = calls.slice(0, LINKS_MAX).map((call) => ({ context: spanContextOf(call) }));
    const span = this.#exporting.tracer.startSpan("commit", { kind: SpanKind.INTERNAL, links }, contextOf(calls[0]));
    return (isError) => {
      endSpan(span, attributes, isError);
    };
  }

  stop(): Promise<void> {
    return this.#exporting.stop();
  }
}

function endSpan(span: Span, attributes: Attributes, isError: boolean): void {
  span.setAttributes(attributes);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function contextOf(parent: TraceParent | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent));
}

function spanContextOf({ traceId, spanId, isSampled }: TraceParent): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/** A variable of OpenTelemetry is wrong. */
export class TracingError extends Error {}

/**
 * Opens the tracing if an endpoint is set; otherwise returns undefined, and loads nothing of the
 * SDK. Throws a TracingError that names the variable.
 */
export async function openTracing(
  environment: Environment,
  serviceName: string,
  onError: (message: string) => void,
): Promise<Tracing | undefined> {
  const set = ENDPOINTS.filter((name) => (environment[name] ?? "") !== "");
  if (set.length === 0 || environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  for (const name of set) {
    const url = environment[name] ?? "";
    if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
      throw new TracingError(`${name} must be a URL such as http://127.0.0.1:4318; it is "${url}".`);
    }
  }
  const sampler = samplerOf(environment);
  if (!sampler.ok) throw new TracingError(sampler.problem);
  const { exportOverOtlp } = await import("./otlp.js");
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { readonly version: string };
  const service = { name: environment["OTEL_SERVICE_NAME"] ?? serviceName, version };
  return new Tracing(exportOverOtlp(service, onError), sampler.sample);
}
