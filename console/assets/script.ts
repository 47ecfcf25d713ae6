/**
 * The one script of the console: the passkey, the code of a link, and keys. Everything else works
 * without it. It writes no markup, so the policy needs no exception.
 */
export const SCRIPT = `"use strict";

// The token of a link stands behind "#", so no log of a server has it.
const token = /^#(kesc_(?:code|inv)_[A-Za-z0-9_-]+)$/.exec(location.hash);
const field = document.querySelector("input[name=token]");
if (token !== null && field !== null) {
  history.replaceState(null, "", location.pathname + location.search);
  field.value = token[1];
  field.form.requestSubmit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const problem = form.querySelector("[role=alert]");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const say = (text) => {
      problem.textContent = text;
      problem.hidden = false;
    };
    if (window.PublicKeyCredential === undefined) {
      say("This browser has no passkeys here. They need https, or localhost.");
      return;
    }
    say("Your browser asks for the passkey now. If it asks nothing, this device has none.");
    usePasskey(form).catch((error) => {
      if (error.name !== "AbortError") say(error.name === "NotAllowedError"
        ? "The passkey was not used: it was canceled, this device has none, or the time was over. Try again."
        : error.message);
    });
  });
}

let waiting;
// A browser sends no other form while it waits for a passkey.
document.addEventListener("submit", () => waiting?.abort(), true);

async function usePasskey(form) {
  waiting = new AbortController();
  const { signal } = waiting;
  const invitation = form.elements.namedItem("invitation")?.value ?? "";
  const reply = await fetch("/sign-in/options", { method: "POST", body: new URLSearchParams({ invitation }) });
  if (!reply.ok) throw new Error(await reply.text());
  const options = await reply.json();
  const credential = form.dataset.passkey === "create"
    ? await navigator.credentials.create({ signal, publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : await navigator.credentials.get({ signal, publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  form.elements.namedItem("response_json").value = JSON.stringify(credential.toJSON());
  form.submit();
}

// What is new since the page was read. Only a page that a person sees has a stream.
const news = document.querySelector("[data-stream]");
let stream;
function follow() {
  stream?.close();
  if (news === null || document.hidden) return;
  stream = new EventSource(news.dataset.stream);
  stream.addEventListener("message", ({ data }) => {
    for (const [name, text] of Object.entries(JSON.parse(data))) {
      for (const place of document.querySelectorAll("[data-live=" + name + "]")) {
        if (place.textContent !== text) place.textContent = text;
        (place.closest("[data-stream]") ?? place).hidden = text === "" || text === "0";
      }
    }
  });
  stream.addEventListener("end", () => location.reload());
}
document.addEventListener("visibilitychange", follow);
follow();

// Where the navigation is one line that scrolls, it shows the page that is open.
const current = document.querySelector("nav [aria-current]");
const pages = document.querySelector("nav");
if (current !== null) pages.scrollLeft = current.offsetLeft - pages.clientWidth / 2;

// No key starts an act.
let isAfterG = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog[open]")) return;
  const wasAfterG = isAfterG;
  isAfterG = event.key === "g" && !wasAfterG;
  if (wasAfterG) {
    document.querySelector("nav a[data-key='" + CSS.escape(event.key) + "']")?.click();
  } else if (event.key === "/") {
    event.preventDefault();
    document.querySelector("input[type=search]")?.focus();
  } else if (event.key === "j" || event.key === "k") {
    moveRow(event.key === "j" ? 1 : -1);
  } else if (event.key === "?") {
    document.querySelector("dialog")?.showModal();
  }
});

/** Focuses the link of the next row, which Enter opens. */
function moveRow(step) {
  const links = [...document.querySelectorAll("main tbody tr")].flatMap((row) => row.querySelector("a") ?? []);
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}
`;
