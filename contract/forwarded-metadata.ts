/** One header that the gateway forwards to the server as metadata of the same name. */
interface ForwardedMetadata {
  readonly name: string;
  /**
   * What happens to it in a batch of calls. `credential`: all calls have the same. `item`: each
   * call keeps its own, in a field of its item. `single` and `list`: the batch takes those of its
   * first call. Only a `list` may be sent more than once.
   */
  readonly kind: "credential" | "item" | "single" | "list";
}

/**
 * The allow-list: clients cannot set any other metadata. Problems with headers are reported in this
 * order.
 */
export const FORWARDED_METADATA: readonly ForwardedMetadata[] = [
  { name: "authorization", kind: "credential" },
  { name: "x-api-key", kind: "credential" },
  { name: "idempotency-key", kind: "item" },
  { name: "traceparent", kind: "single" },
  { name: "tracestate", kind: "list" },
];

/** The names of the metadata that each item of a batch carries in a field of its own. */
export const ITEM_METADATA: readonly string[] = FORWARDED_METADATA.filter(({ kind }) => kind === "item").map(
  ({ name }) => name,
);
