import { existsSync } from "node:fs";

import { type Browser, chromium, type Page } from "playwright-core";

// CHROMIUM names a browser, or Debian's package has put one into its place.
const PLACES = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];
const executablePath = PLACES.find((place) => place !== "" && existsSync(place));

/** Why suites with a browser are skipped on this machine. Undefined: they are not. */
export const NO_BROWSER =
  executablePath === undefined
    ? "SKIPPED, there is no Chromium (apt-get install chromium, or CHROMIUM=path)"
    : undefined;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
}

/** Where `make screenshots` keeps what is seen. Undefined: nothing is kept. */
export const PICTURES_FOLDER = process.env["SCREENSHOTS_INTO"];

/** What a person would see in the console of the browser, and the hosts that pages asked. */
export class Watched {
  readonly complaints: string[] = [];
  readonly hosts = new Set<string>();

  watch(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith("data:")) this.hosts.add(new URL(request.url()).host);
    });
  }

  clear(): void {
    this.complaints.length = 0;
    this.hosts.clear();
  }
}
