/** Tells the program that started this one, if it is one of ours, that it serves on `address`. */
export function announceReady(address: string, more: Readonly<Record<string, string>> = {}): void {
  process.send?.({ ...more, kind: "ready", address });
}
