import type { Connection } from "./connection.js";
import type { Message } from "./decode.js";
import { type Import, type Paged, type Rpc, type RpcName, SERVICES, type Stream, type Unary } from "./gen/tables.js";
import { exported, imported, watch } from "./streams.js";
import { type AnyOptions, type CallOptions, callUnary } from "./unary.js";

/** A response, and whether the call was a replay: an earlier one has done what it asks for. */
export type Answer<Response> = Response & { readonly replayed: boolean };

export interface KeyOptions extends CallOptions {
  /** See docs/api.md, "Repeating a call". */
  readonly idempotencyKey?: string | undefined;
}

/** A page of a list, or, as an iteration, all items from all pages. */
export interface Pages<Response, Item> extends Promise<Answer<Response>>, AsyncIterable<Item> {}

/** The rpcs of a service as methods. A request without required fields may be left out. */
export type Methods<Service> = { readonly [Name in keyof Service]: MethodOf<Service[Name]> };

type MethodOf<Each> =
  Each extends Unary<infer Request, infer Response, infer TakesKey>
    ? UnaryMethod<Request, Response, TakesKey extends true ? KeyOptions : CallOptions>
    : Each extends Paged<infer Request, infer Response, infer Item>
      ? (...given: Arguments<Request, CallOptions>) => Pages<Response, Item>
      : Each extends Stream<infer Request, infer Item>
        ? (...given: Arguments<Request, CallOptions>) => AsyncGenerator<Item, void, void>
        : Each extends Import<infer Given, infer Item>
          ? (items: Iterable<Given> | AsyncIterable<Given>, options?: CallOptions) => AsyncGenerator<Item, void, void>
          : never;

interface UnaryMethod<Request, Response, Options> {
  /** Only checks the request: nothing is done, and there is no response. */
  (request: Request, options: CallOptions & { readonly validateOnly: true }): Promise<undefined>;
  (...given: Arguments<Request, Options>): Promise<Answer<Response>>;
}

type Arguments<Request, Options> =
  Partial<Request> extends Request ? [request?: Request, options?: Options] : [request: Request, options?: Options];

/** Makes a method of each rpc of the service. */
export function methodsOf<Service>(connection: Connection, service: string): Methods<Service> {
  const rpcs = Object.entries(SERVICES[service] ?? {}) as [RpcName, Rpc][];
  return Object.fromEntries(rpcs.map(([name, rpc]) => [name, methodOf(connection, name, rpc)])) as Methods<Service>;
}

function methodOf(connection: Connection, name: RpcName, rpc: Rpc): unknown {
  const call = (request: unknown = {}, options?: AnyOptions): Promise<Message | undefined> =>
    callUnary(connection, { name, rpc }, { request, options });
  const streaming = { watch, export: exported, import: imported };
  switch (rpc.shape) {
    case "unary":
      return call;
    case "paged":
      return (request: Message = {}, options?: CallOptions) =>
        pagesOf(call(request, options), {
          items: rpc.items ?? "",
          next: (page_token) => call({ ...request, page_token }, options),
        });
    case "watch":
    case "export":
    case "import":
      return (request: unknown = {}, options: CallOptions = {}) =>
        streaming[rpc.shape as keyof typeof streaming](connection, rpc, { request, options });
  }
}

interface Paging {
  readonly items: string;
  readonly next: (pageToken: string) => Promise<Message | undefined>;
}

/**
 * The first page, with which an iteration begins. It asks for the next page when the items before
 * it were taken.
 */
function pagesOf(first: Promise<Message | undefined>, { items, next }: Paging): unknown {
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; page !== undefined;) {
        yield* page[items] as unknown[];
        const token = page["next_page_token"];
        page = typeof token === "string" && token !== "" ? await next(token) : undefined;
      }
    },
  });
}
