import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";

export function now(): UnixMillis {
  return toUnixMillis(Date.now());
}
