import { setImmediate as nextTurn } from "node:timers/promises";

import { Metadata, type ServerInterceptingCallInterface, type ServerInterceptor } from "@grpc/grpc-js";
import { expect } from "chai";

import { FairShare } from "../../../runtime/fair-share.js";
import { CallGuard } from "../../../src/grpc/calls/call-guard.js";

const MESSAGES = 500;
/** The calls that begin in one turn of the event loop. */
const TURNS_OF_LOOP = 64;

type Listener = Parameters<ServerInterceptingCallInterface["start"]>[0];

function guardedCall(guard: CallGuard, organization: string, onMessage: () => void): GivenCall {
  let toGuard!: Listener;
  const inner = {
    start: (listener: Listener) => {
      toGuard = listener;
    },
    sendMessage: onMessage,
    getPeer: () => "peer",
  };
  const rpc = { path: "/kesc.v1.EventService/WatchEvents", requestStream: false, responseStream: true };
  const [guarded, given] = [
    guard.interceptor(
      rpc as unknown as Parameters<ServerInterceptor>[0],
      inner as unknown as ServerInterceptingCallInterface,
    ),
    { begun: false },
  ];
  const metadata = new Metadata();
  metadata.set("organization", organization);
  guarded.start({
    onReceiveMetadata: () => undefined,
    onReceiveMessage: () => undefined,
    onReceiveHalfClose: () => {
      given.begun = true;
    },
    onCancel: () => undefined,
  });
  toGuard.onReceiveMetadata(metadata);
  return {
    send: () => {
      guarded.sendMessage(Buffer.alloc(1), () => undefined);
    },
    begin: () => {
      toGuard.onReceiveHalfClose();
    },
    hasBegun: () => given.begun,
    cancel: () => {
      toGuard.onCancel();
    },
  };
}

interface GivenCall {
  send(): void;
  begin(): void;
  hasBegun(): boolean;
  cancel(): void;
}

describe("the messages of a stream", () => {
  const guard = (): CallGuard =>
    new CallGuard({
      organizationOf: (metadata) => String(metadata.get("organization")[0]),
      calls: new FairShare(100),
      newCalls: new FairShare(100),
      publicCalls: new FairShare(100),
      openCalls: new FairShare(100),
      isOpen: () => false,
      isPublic: () => false,
      onRefused: () => undefined,
    });

  it("wait for turns of their caller, so that calls of others come between them", async () => {
    const under = guard();
    let sent = 0;
    const greedy = guardedCall(under, "greedy", () => (sent += 1));
    const other = guardedCall(under, "other", () => undefined);
    for (let i = 0; i < MESSAGES; i++) greedy.send();
    other.begin();
    while (!other.hasBegun()) await nextTurn();
    expect(sent).to.be.at.most(2 * TURNS_OF_LOOP);
    while (sent < MESSAGES) await nextTurn();
  });

  it("are dropped if the stream has ended meanwhile", async () => {
    const under = guard();
    let sent = 0;
    const stream = guardedCall(under, "one", () => (sent += 1));
    stream.send();
    stream.cancel();
    for (let i = 0; i < 3; i++) await nextTurn();
    expect(sent).to.equal(0);
  });
});
