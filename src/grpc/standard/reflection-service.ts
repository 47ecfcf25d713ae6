import type { handleBidiStreamingCall, Server, ServerDuplexStream } from "@grpc/grpc-js";

import {
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionService,
} from "../../gen/grpc/reflection/v1/reflection.js";
import type { Reflection } from "./reflection-index.js";

// The same messages under both names: grpcurl asks for the first, older tools for the second.
export const REFLECTION_SERVICES = [
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
] as const;

type Stream = ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>;

/** Serves reflection, to anyone. */
export class ReflectionService {
  readonly #reflection: Reflection;
  readonly #streams = new Set<Stream>();

  constructor(reflection: Reflection) {
    this.#reflection = reflection;
  }

  addTo(server: Server): void {
    const rpc = ServerReflectionService.serverReflectionInfo;
    for (const name of REFLECTION_SERVICES) {
      const path = `/${name}/ServerReflectionInfo`;
      server.addService({ serverReflectionInfo: { ...rpc, path } }, { serverReflectionInfo: this.#serve });
    }
  }

  /** Ends the streams that are open; a server that stops waits for them otherwise. */
  endStreams(): void {
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  readonly #serve: handleBidiStreamingCall<ServerReflectionRequest, ServerReflectionResponse> = (stream) => {
    this.#streams.add(stream);
    stream.once("cancelled", () => this.#streams.delete(stream));
    stream.on("data", (request: ServerReflectionRequest) => {
      if (stream.writableEnded) return;
      // One question at a time: a client that asks and never reads would fill our memory with
      // answers.
      stream.pause();
      stream.write(this.#reflection.answer(request), () => {
        stream.resume();
      });
    });
    stream.once("end", () => {
      this.#streams.delete(stream);
      stream.end();
    });
  };
}
