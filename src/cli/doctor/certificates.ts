import type { X509Certificate } from "node:crypto";

import {
  certificatesIn,
  describe,
  type NamedFile,
  readTls,
  TlsFileError,
  type TlsFiles,
  type TlsMaterial,
  validityOf,
} from "../../../runtime/transport/tls.js";
import type { Config } from "../../startup/config.js";
import { checkMode } from "./files.js";
import { checkNamed, type CheckResult, type DoctorFinding } from "./finding.js";

const DAY_MILLIS = 86_400_000;
// A certificate that lives for weeks has a renewal that takes place days before its end.
const LONG_LIFE_MILLIS = 30 * DAY_MILLIS;
const NOTICE_MILLIS = 7 * DAY_MILLIS;

/** Checks the files of TLS: that they can be read, fit each other, and are valid for a while. */
export function checkCertificates(
  { tls, clientTls, gatewayTarget }: Pick<Config, "tls" | "clientTls" | "gatewayTarget">,
  now: number,
): CheckResult {
  if (tls === undefined && clientTls === undefined) {
    return checkNamed("tls").ok(
      "TLS is off: the programs serve this machine alone, or something else protects the network.",
    );
  }
  const server = checkSide("tls server", tls, now);
  const client = checkSide("tls client", clientTls, now);
  const isOwnServer = gatewayTarget === undefined;
  return [
    ...server.findings,
    ...client.findings,
    ...(isOwnServer ? checkTrust(server.material, client.material, clientTls?.ca) : []),
  ];
}

interface Side {
  readonly findings: readonly DoctorFinding[];
  /** Undefined if the files are not given, or cannot be used. */
  readonly material: TlsMaterial | undefined;
}

function checkSide(check: string, files: TlsFiles | undefined, now: number): Side {
  if (files === undefined) return { findings: [], material: undefined };
  try {
    const material = readTls(files);
    const findings = [
      ...checkCertificate(check, files.certificate, { pem: material.cert, now }),
      ...checkCertificate(`${check} CA`, files.ca, { pem: material.ca, now }),
      ...(files.key === undefined ? [] : checkMode(`${check} key`, files.key.path)),
    ];
    return { findings, material };
  } catch (error) {
    if (!(error instanceof TlsFileError)) throw error;
    const remedy = "Put the right files there; a program that runs goes on with those that it has read.";
    return { findings: [checkNamed(check).fail(error.message, remedy)], material: undefined };
  }
}

function checkCertificate(
  check: string,
  file: NamedFile | undefined,
  { pem, now }: { readonly pem: Buffer | undefined; readonly now: number },
): readonly DoctorFinding[] {
  if (file === undefined || pem === undefined) return [];
  const { ok, warn, fail } = checkNamed(check);
  const { notBefore, notAfter } = validityOf(pem);
  const until = new Date(notAfter).toISOString();
  const renew = "Renew it and replace the file; the programs take it up within a second.";
  if (now >= notAfter) return [fail(`${describe(file)} expired at ${until}.`, renew)];
  if (now < notBefore) {
    const from = new Date(notBefore).toISOString();
    return [fail(`${describe(file)} is not valid before ${from}.`, `Check this machine's clock. ${renew}`)];
  }
  const left = notAfter - now;
  const words = `${describe(file)} is valid until ${until}, ${daysOf(left)}.`;
  const isSoon = left < DAY_MILLIS || (notAfter - notBefore > LONG_LIFE_MILLIS && left < NOTICE_MILLIS);
  return [isSoon ? warn(words, renew) : ok(words)];
}

/** The gateway must trust the certificate of the server beside it. */
function checkTrust(
  server: TlsMaterial | undefined,
  client: TlsMaterial | undefined,
  caFile: NamedFile | undefined,
): readonly DoctorFinding[] {
  if (server?.cert === undefined || client?.ca === undefined || caFile === undefined) return [];
  const authorities = certificatesIn(client.ca);
  const isTrusted = certificatesIn(server.cert).some((certificate) =>
    authorities.some((authority) => isIssuedBy(certificate, authority)),
  );
  if (isTrusted) return [];
  return [
    checkNamed("tls trust").fail(
      `No CA of ${describe(caFile)} has signed the server's certificate, so the gateway cannot call the server.`,
      "Name the CA that signed KESC_TLS_CERT_FILE, and put the whole chain into that file.",
    ),
  ];
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  if (certificate.fingerprint256 === authority.fingerprint256) return true;
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function daysOf(millis: number): string {
  const days = Math.floor(millis / DAY_MILLIS);
  return days === 0 ? "less than a day" : days === 1 ? "1 day" : `${String(days)} days`;
}
