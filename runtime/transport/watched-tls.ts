import type { Logger } from "pino";

import {
  certificatesIn,
  describe,
  readTls,
  readTlsLater,
  TlsFileError,
  type TlsFiles,
  type TlsMaterial,
  usable,
  validityOf,
} from "./tls.js";

const LOOK_MILLIS = 1_000;
const WARN_MILLIS = 3_600_000;
const EXPIRY_NOTICE_MILLIS = 86_400_000;

export interface WatchedTlsOptions {
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Returns milliseconds since 1970. */
  readonly now?: () => number;
  readonly lookMillis?: number;
}

/** Contents that could not be used at the last look. */
interface Rejected {
  readonly found: TlsMaterial | undefined;
  readonly problem: string;
  isLogged: boolean;
}

/**
 * Files of TLS that may be replaced while the program runs. It reads them each second, because
 * notifications of a file system miss a folder that is replaced as a whole, as Kubernetes does.
 *
 * New files that cannot be used are an error in the log, and the old ones stay in use. A program
 * may be writing them, so the error is logged when a second look finds the same.
 */
export class WatchedTls {
  readonly #files: TlsFiles;
  readonly #options: WatchedTlsOptions;
  readonly #now: () => number;
  readonly #listeners: ((material: TlsMaterial) => void)[] = [];
  readonly #looking: NodeJS.Timeout;
  #material: TlsMaterial;
  #isLooking = false;
  #rejected: Rejected | undefined;
  #warnedAt = -Infinity;

  /** Throws a TlsFileError if a file cannot be used. */
  constructor(files: TlsFiles, options: WatchedTlsOptions) {
    this.#files = files;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#material = readTls(files);
    this.#warnOfExpiry();
    this.#looking = setInterval(() => void this.look(), options.lookMillis ?? LOOK_MILLIS).unref();
  }

  /** The contents in use. */
  get material(): TlsMaterial {
    return this.#material;
  }

  /** When the certificate in use expires, in milliseconds since 1970; undefined without one. */
  get notAfter(): number | undefined {
    return this.#material.cert === undefined ? undefined : validityOf(this.#material.cert).notAfter;
  }

  /** Calls the listener with each new contents. */
  onChange(listener: (material: TlsMaterial) => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    clearInterval(this.#looking);
  }

  /** Takes up the files if they have changed and can be used. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      this.#consider(await readTlsLater(this.#files));
    } catch (error) {
      this.#reject(undefined, error);
    }
    this.#isLooking = false;
    if (this.#now() - this.#warnedAt >= WARN_MILLIS) this.#warnOfExpiry();
  }

  #consider(found: TlsMaterial): void {
    if (isSame(found, this.#material)) {
      this.#rejected = undefined;
      return;
    }
    try {
      this.#refuseInvalidNow(usable(this.#files, found));
    } catch (error) {
      this.#reject(found, error);
      return;
    }
    this.#rejected = undefined;
    this.#material = found;
    for (const listener of this.#listeners) listener(found);
    this.#options.log.info(this.#facts(), "new TLS files are in use");
    this.#warnOfExpiry();
  }

  #refuseInvalidNow({ cert }: TlsMaterial): void {
    if (cert === undefined || this.#files.certificate === undefined) return;
    const { notBefore, notAfter } = validityOf(cert);
    const now = this.#now();
    if (now >= notBefore && now < notAfter) return;
    const problem = now < notBefore ? `is not valid before ${iso(notBefore)}` : `expired at ${iso(notAfter)}`;
    throw new TlsFileError(`The certificate ${describe(this.#files.certificate)} ${problem}.`);
  }

  #reject(found: TlsMaterial | undefined, error: unknown): void {
    const problem = error instanceof TlsFileError ? error.message : "They cannot be parsed.";
    const isRepeated =
      this.#rejected?.problem === problem &&
      (found === undefined || (this.#rejected.found !== undefined && isSame(found, this.#rejected.found)));
    if (!isRepeated) this.#rejected = { found, problem, isLogged: false };
    else if (this.#rejected?.isLogged === false) {
      this.#rejected.isLogged = true;
      this.#options.log.error({ problem }, "new TLS files cannot be used; the old ones stay in use");
    }
  }

  /** Warns from a day before the certificate expires. */
  #warnOfExpiry(): void {
    this.#warnedAt = this.#now();
    const notAfter = this.notAfter;
    if (notAfter === undefined || notAfter - this.#now() > EXPIRY_NOTICE_MILLIS) return;
    if (notAfter > this.#now()) this.#options.log.warn(this.#facts(), "the TLS certificate expires within a day");
    else this.#options.log.error(this.#facts(), "the TLS certificate has expired");
  }

  #facts(): Readonly<Record<string, string | undefined>> {
    const [leaf] = this.#material.cert === undefined ? [] : certificatesIn(this.#material.cert);
    return {
      file: (this.#files.certificate ?? this.#files.ca)?.path,
      serial: leaf?.serialNumber,
      not_after: this.notAfter === undefined ? undefined : iso(this.notAfter),
    };
  }
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  return (["cert", "key", "ca"] as const).every((part) => {
    const bytes = other[part];
    return bytes === undefined ? one[part] === undefined : one[part]?.equals(bytes) === true;
  });
}

function iso(millis: number): string {
  return new Date(millis).toISOString();
}
