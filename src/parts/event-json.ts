import { readFileSync } from "node:fs";

import { fromBinary } from "@bufbuild/protobuf";

import { CONTRACT_URL, messageOf, readContract } from "../../contract/contract.js";
import { MessageWriter } from "../../contract/json/write-message.js";
import { Event as EventMessage } from "../gen/kesc/v1/event.js";
import { encode } from "../grpc/messages/wire-format.js";

/** Returns a function that writes an event exactly as the gateway does. */
export function eventWriter(): (event: EventMessage) => string {
  const contract = readContract(readFileSync(CONTRACT_URL));
  const desc = messageOf(contract.registry, "kesc.v1.Event");
  const writer = new MessageWriter(contract, () => "null");
  return (event) => writer.write(desc, fromBinary(desc, encode(EventMessage, event)));
}
