import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

/** A span as OTLP over HTTP carries it, in JSON. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "service" | "attributes" | "links"> & {
        readonly attributes: readonly Attribute[];
        readonly links?: ReceivedSpan["links"];
      })[];
    }[];
  }[];
}

/** A collector of traces that keeps what it gets. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly #server = createServer((req, res) => {
    void json(req).then((body) => {
      if (req.url === "/v1/traces") this.#take(body as Body);
      res.end("{}");
    });
  });

  /** Resolves with the value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #take({ resourceSpans }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(valuesOf(resource.attributes)["service.name"]);
      for (const { spans } of scopeSpans) {
        for (const { attributes, links = [], ...span } of spans) {
          this.spans.push({ ...span, service, links, attributes: valuesOf(attributes) });
        }
      }
    }
  }
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}
