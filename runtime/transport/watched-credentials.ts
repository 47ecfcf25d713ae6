import { type ChannelCredentials, credentials, experimental } from "@grpc/grpc-js";

import { verifyOptionsFor } from "./server-name.js";
import type { TlsMaterial } from "./tls.js";
import type { WatchedTls } from "./watched-tls.js";

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/**
 * Returns the credentials of a client, whose new connections use the newest contents of the files.
 * A Unix socket needs no TLS. The channel needs `serverNameFor(address)`.
 */
export function watchedCredentials(address: string, watched: WatchedTls | undefined): ChannelCredentials {
  if (watched === undefined || address.startsWith("unix:")) return credentials.createInsecure();
  const provider = new WatchedProvider(watched);
  const identity = watched.material.cert === undefined ? null : provider;
  return experimental.createCertificateProviderChannelCredentials(provider, identity, verifyOptionsFor(address));
}

/** Gives the contents to the channels of grpc-js. */
class WatchedProvider implements experimental.CertificateProvider {
  readonly #watched: WatchedTls;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();

  constructor(watched: WatchedTls) {
    this.#watched = watched;
    watched.onChange((material) => {
      for (const listener of this.#caListeners) giveCa(listener, material);
      for (const listener of this.#identityListeners) giveIdentity(listener, material);
    });
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#caListeners.add(listener);
    giveCa(listener, this.#watched.material);
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    giveIdentity(listener, this.#watched.material);
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
  }
}

function giveCa(listener: CaListener, { ca }: TlsMaterial): void {
  listener(ca === undefined ? null : { caCertificate: ca });
}

function giveIdentity(listener: IdentityListener, { cert, key }: TlsMaterial): void {
  listener(cert === undefined || key === undefined ? null : { certificate: cert, privateKey: key });
}
