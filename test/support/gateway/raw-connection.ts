import { connect, type Socket } from "node:net";

/** A connection to a gateway, over which a test writes HTTP/1 by hand. */
export interface RawConnection {
  readonly socket: Socket;
  /** All that came so far. */
  readonly received: () => string;
}

/** Connects to an address such as "127.0.0.1:8080", and writes a text. */
export function rawConnection(address: string, text = ""): RawConnection {
  const [host = "", port = ""] = address.split(":");
  const socket = connect(Number(port), host).setEncoding("utf8");
  let received = "";
  socket.on("data", (more: string) => (received += more));
  if (text !== "") socket.write(text);
  return { socket, received: () => received };
}
