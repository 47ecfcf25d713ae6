/** The yardstick: a plain grpc-js server whose unary handler does not even read its request. */
import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";

import { EMPTY_ANSWER, EMPTY_PATH } from "./empty-rpc.js";

const passThrough = (bytes: Buffer): Buffer => bytes;

const definition = {
  call: {
    path: EMPTY_PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: passThrough,
    requestDeserialize: passThrough,
    responseSerialize: passThrough,
    responseDeserialize: passThrough,
  },
} as const;

const implementation: UntypedServiceImplementation = {
  call: (_call: unknown, callback: (error: null, answer: Buffer) => void) => {
    callback(null, EMPTY_ANSWER);
  },
};

// Without channelz the yardstick is faster, as the service is.
const server = new Server({ "grpc.enable_channelz": 0 });
server.addService(definition, implementation);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.send?.({ kind: "ready", address: `127.0.0.1:${String(port)}` });
});
process.on("SIGTERM", () => process.exit(0));
process.on("disconnect", () => process.exit(0));
