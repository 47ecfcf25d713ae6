import { call, type CallOptions, type Connection, type UnaryRpc } from "./call.js";

/** A service definition that ts-proto made. */
export type Definition = Readonly<Record<string, object>>;

/** The unary rpcs of a service, as methods. A field that a request lacks has its default. */
export type Rpcs<Service> = {
  readonly [
    Name in keyof Service as Service[Name] extends { requestStream: false; responseStream: false } ? Name : never
  ]: Service[Name] extends {
    requestSerialize: (request: infer Request) => Buffer;
    responseDeserialize: (bytes: Buffer) => infer Response;
  }
    ? (request: Partial<Request>, options?: CallOptions) => Promise<Response>
    : never;
};

/** Makes a method of each unary rpc of the service. */
export function rpcsOf<Service extends object>(service: Service, connection: Connection): Rpcs<Service> {
  const methods = Object.entries(service as Definition).flatMap(([name, definition]) => {
    if (!isUnary(definition)) return [];
    const method = (request: object, options?: CallOptions): Promise<unknown> =>
      call(definition, connection, { request, options });
    return [[name, method]];
  });
  return Object.fromEntries(methods) as Rpcs<Service>;
}

function isUnary(rpc: object): rpc is UnaryRpc<object, unknown> {
  return "requestStream" in rpc && rpc.requestStream === false && "responseStream" in rpc && !rpc.responseStream;
}
