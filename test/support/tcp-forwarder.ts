import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

const WAIT_MILLIS_MAX = 10_000;

/** A RegExp, or what else can judge the bytes on the wire. Each character is one byte. */
export type Matcher = Pick<RegExp, "test" | "source">;

/** A client's connection, and the connection to the server that stands for it. */
class Pair {
  readonly #client: Socket;
  readonly #target: Socket;
  /** The bytes that wait until the network is back, in order. */
  readonly #held: { readonly to: Socket; readonly bytes: Buffer }[] = [];
  #silent = false;

  /** Asks `isLost` about each answer; the connection ends in place of an answer that is lost. */
  constructor(
    client: Socket,
    targetPort: number,
    { onSent, isLost }: { onSent: (text: string) => void; isLost: (text: string) => boolean },
  ) {
    this.#client = client;
    this.#target = connect(targetPort, "127.0.0.1");
    client.on("data", (bytes: Buffer) => {
      this.#pass(bytes, this.#target);
      onSent(bytes.toString("latin1"));
    });
    this.#target.on("data", (bytes: Buffer) => {
      if (isLost(bytes.toString("latin1"))) this.cut();
      else this.#pass(bytes, client);
    });
    for (const [end, other] of [
      [client, this.#target],
      [this.#target, client],
    ] as const) {
      // An error closes the socket, and the close is passed on.
      end.on("error", () => undefined);
      end.on("close", () => {
        if (!this.#silent) other.destroy();
      });
    }
  }

  silence(): void {
    this.#silent = true;
  }

  resume(): void {
    // An end that hung up meanwhile was not heard, and the other end waits on.
    if (this.#client.destroyed || this.#target.destroyed) return;
    this.#silent = false;
    for (const { to, bytes } of this.#held.splice(0)) to.write(bytes);
  }

  cut(): void {
    this.#client.destroy();
    this.#target.destroy();
  }

  #pass(bytes: Buffer, to: Socket): void {
    if (this.#silent) this.#held.push({ to, bytes });
    else to.write(bytes);
  }
}

/** A stable address in front of a server that may move, and a network that a test can break. */
export class TcpForwarder {
  /** Where the next connections go: a port of the loopback interface. */
  target: number;
  readonly #server: Server;
  readonly #pairs: Pair[] = [];
  #silent = false;
  #onSent: (text: string) => void = () => undefined;
  #isLost: (answer: string) => boolean = () => false;

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => {
      const pair = new Pair(client, this.target, {
        onSent: (text) => {
          this.#onSent(text);
        },
        isLost: (text) => this.#isLost(text),
      });
      if (this.#silent) pair.silence();
      this.#pairs.push(pair);
    });
  }

  static async start(target: number): Promise<TcpForwarder> {
    const forwarder = new TcpForwarder(target);
    forwarder.#server.listen(0, "127.0.0.1");
    await once(forwarder.#server, "listening");
    return forwarder;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Passes nothing from now on, not even that an end hung up. */
  silence(): void {
    this.#silent = true;
    for (const pair of this.#pairs) pair.silence();
  }

  /**
   * Delivers what was held back. A connection of which one end hung up meanwhile stays open at the
   * other end.
   */
  resume(): void {
    this.#silent = false;
    for (const pair of this.#pairs) pair.resume();
  }

  /** Goes silent as soon as it has passed on bytes that match, and resolves then. */
  silenceAfter(sent: RegExp): Promise<void> {
    return inTime(sent, (resolve) => {
      this.#onSent = (text) => {
        if (!sent.test(text)) return;
        this.#onSent = () => undefined;
        this.silence();
        resolve();
      };
    });
  }

  /** Goes silent before it passes on an answer that matches, and resolves then. */
  silenceBefore(answer: RegExp): Promise<void> {
    return inTime(answer, (resolve) => {
      this.#isLost = (text) => {
        if (!answer.test(text)) return false;
        this.#isLost = () => false;
        this.silence();
        resolve();
        return false;
      };
    });
  }

  /** Ends the connection in place of the next answer that matches, and resolves then. */
  loseAnswer(answer: Matcher): Promise<void> {
    return inTime(answer, (resolve) => {
      this.#isLost = (text) => {
        if (!answer.test(text)) return false;
        this.#isLost = () => false;
        resolve();
        return true;
      };
    });
  }

  /** Silences the connections of now for good, as when the machine at the other end is gone. */
  strand(): void {
    for (const pair of this.#pairs) pair.silence();
  }

  /** Ends all connections. */
  cut(): void {
    for (const pair of this.#pairs.splice(0)) pair.cut();
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }
}

/** Rejects if the bytes that a test waits for do not come in time. */
function inTime(awaited: Matcher, begin: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`nothing on the wire matched ${awaited.source} in ${String(WAIT_MILLIS_MAX)} ms`));
    }, WAIT_MILLIS_MAX);
    begin(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
