import type { handleBidiStreamingCall, Server, ServerDuplexStream } from "@grpc/grpc-js";

import {
  type ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionService,
} from "../../gen/grpc/reflection/v1/reflection.js";
import { statusOf } from "../errors/status.js";
import type { Reflection } from "./reflection-index.js";

// Both names have the same messages. grpcurl uses the first name, older tools use the second.
export const REFLECTION_SERVICES = [
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
] as const;

type ReflectionStream = ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>;

// An answer has up to 40 KB. Engineers use reflection, and programs do not.
const STREAMS_MAX = 16;

/** Serves reflection without authentication. Few streams are open at a time. */
export class ReflectionService {
  readonly #reflection: Reflection;
  readonly #streams = new Set<ReflectionStream>();

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

  /** Ends the open streams. A stopping server would wait for them. */
  endStreams(): void {
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  readonly #serve: handleBidiStreamingCall<ServerReflectionRequest, ServerReflectionResponse> = (stream) => {
    if (this.#streams.size >= STREAMS_MAX) {
      stream.emit("error", statusOf({ reason: "QUEUE_FULL" }));
      return;
    }
    this.#streams.add(stream);
    stream.once("cancelled", () => this.#streams.delete(stream));
    stream.on("data", (request: ServerReflectionRequest) => {
      if (stream.writableEnded) return;
      // Handles one request at a time. Otherwise a client that sends requests but reads no
      // responses would fill our memory.
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
