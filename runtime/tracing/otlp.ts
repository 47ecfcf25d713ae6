import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { diag, DiagLogLevel, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

/** The program whose spans they are. */
export interface TracedService {
  readonly name: string;
  readonly version: string;
}

/** What exports the spans. */
export interface Exporting {
  readonly tracer: Tracer;
  /** Exports what is left. Resolves in any case after a while. */
  stop(): Promise<void>;
}

/** What is left at the end is exported within this time, or lost. */
const STOP_MILLIS_MAX = 3_000;

/**
 * Exports spans over HTTP, where the standard variables of OpenTelemetry say. Spans wait in a
 * bounded queue, and are dropped beyond it: a slow collector costs spans, and never a call.
 */
export function exportOverOtlp(service: TracedService, onError: (message: string) => void): Exporting {
  const silent = (): void => undefined;
  diag.setLogger(
    { error: onError, warn: silent, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": service.name,
      "service.version": service.version,
      "service.instance.id": randomUUID(),
    }),
    // The caller of the tracer has decided already.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  return {
    tracer: provider.getTracer("kesc"),
    stop: async () => {
      const ended = new AbortController();
      const late = sleep(STOP_MILLIS_MAX, undefined, { signal: ended.signal }).catch(() => undefined);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      ended.abort();
    },
  };
}
