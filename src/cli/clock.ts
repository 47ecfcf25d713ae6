import { toUnixMillis, type UnixMillis } from "../domain/time.js";

export function now(): UnixMillis {
  return toUnixMillis(Date.now());
}
