/** The options of a channel to the server: of the gateway and of the console. */
export const CHANNEL_OPTIONS = {
  // A full page of the largest transactions has some 40 MiB. The default of 4 MiB would make it an
  // error.
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  // Reconnects within a second after the server is back. The default waits up to two minutes.
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.keepalive_time_ms": 60_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.service_config_disable_resolution": 1,
  "grpc.enable_channelz": 0,
};
