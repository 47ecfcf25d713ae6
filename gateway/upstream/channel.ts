import type { Client } from "@grpc/grpc-js";

/** One call, with encoded messages. The status comes when all messages have been read. */
export type ChannelCall = Pick<
  ReturnType<ReturnType<Client["getChannel"]>["createCall"]>,
  "start" | "sendMessageWithContext" | "halfClose" | "startRead" | "cancelWithStatus"
>;

/** The way to the server. */
export interface Channel {
  /** Makes a call with one response. `deadline` is in milliseconds since 1970. */
  createCall(path: string, deadline: number): ChannelCall;
  /** Makes a call with any number of responses. Call `release` when it has ended. */
  createStream(path: string, deadline: number): { readonly call: ChannelCall; readonly release: () => void };
  close(): void;
}
