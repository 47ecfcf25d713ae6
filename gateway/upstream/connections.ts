import { type ChannelCredentials, type ChannelOptions, Client } from "@grpc/grpc-js";

import { CHANNEL_OPTIONS } from "../../runtime/transport/channel-options.js";
import { serverNameFor } from "../../runtime/transport/server-name.js";
import type { Channel, ChannelCall } from "./channel.js";

export interface ServerOptions {
  /** "host:port" or "unix:path". */
  readonly target: string;
  readonly credentials: ChannelCredentials;
}

// A connection carries few streams at a time (KESC_GRPC_CONCURRENT_CALLS_MAX). Streams beyond would
// wait for the end of others that have none.
const STREAMS_OF_CONNECTION_MAX = 250;

interface StreamsConnection {
  readonly client: Client;
  streams: number;
}

/**
 * Connects with the first call, and reconnects when the connection is lost. Streams have
 * connections of their own: they take no room of other calls.
 */
export class ServerConnections implements Channel {
  readonly #options: ServerOptions & { readonly channelOptions: ChannelOptions };
  readonly #client: Client;
  readonly #connections: StreamsConnection[] = [];

  constructor({ target, credentials }: ServerOptions) {
    const channelOptions = { ...CHANNEL_OPTIONS, ...serverNameFor(target) };
    this.#options = { target, credentials, channelOptions };
    this.#client = new Client(target, credentials, channelOptions);
  }

  createCall(path: string, deadline: number): ChannelCall {
    return this.#client.getChannel().createCall(path, deadline, null, null, null);
  }

  createStream(path: string, deadline: number): { readonly call: ChannelCall; readonly release: () => void } {
    const connection = this.#connections.find(({ streams }) => streams < STREAMS_OF_CONNECTION_MAX) ?? this.#connect();
    connection.streams += 1;
    return {
      call: connection.client.getChannel().createCall(path, deadline, null, null, null),
      release: () => {
        connection.streams -= 1;
      },
    };
  }

  close(): void {
    this.#client.close();
    for (const { client } of this.#connections) client.close();
  }

  #connect(): StreamsConnection {
    const { target, credentials, channelOptions } = this.#options;
    // Without the option, clients of the same target share one connection.
    const options = { ...channelOptions, "grpc.use_local_subchannel_pool": 1 };
    const connection = { client: new Client(target, credentials, options), streams: 0 };
    this.#connections.push(connection);
    return connection;
  }
}
