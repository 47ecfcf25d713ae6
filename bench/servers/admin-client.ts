import { Client, credentials, Metadata } from "@grpc/grpc-js";

import { requestOf } from "../load/contract.js";

/** An rpc of the generated service definition. */
interface AdminRpc<Request, Response> {
  readonly path: string;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** Calls the AdminService as one operator. */
export class AdminClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();

  constructor(address: string, key: string) {
    this.#client = new Client(address, credentials.createInsecure());
    this.#metadata.set("x-api-key", key);
  }

  /** Calls for the organization of the field organization_id, if any. Rejects with the refusal. */
  call<Request extends object, Response>(
    rpc: AdminRpc<Request, Response>,
    fields: Partial<NoInfer<Request>> & { readonly organization_id?: string },
  ): Promise<{ readonly response: Response; readonly millis: number; readonly replayed: boolean }> {
    const { path, requestSerialize: write, responseDeserialize: read } = rpc;
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const request = requestOf(rpc, fields as Partial<Request>);
      const metadata = this.#metadata.clone();
      metadata.set("kesc-organization", fields.organization_id ?? "");
      let replayed = false;
      const call = this.#client.makeUnaryRequest(path, write, read, request, metadata, (error, response) => {
        if (response === undefined) reject(error ?? new Error(`${path} returned nothing`));
        else resolve({ response, replayed, millis: performance.now() - startedAt });
      });
      call.on("metadata", (head) => (replayed = head.get("idempotent-replayed").includes("true")));
    });
  }

  close(): void {
    this.#client.close();
  }
}
