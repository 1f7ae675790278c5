// Keeps a page current: one EventSource, whose messages replace the parts of the page that changed.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // group puts the children of a list into the given order, with new HTML where there is some.
  function group({ name, order, html }) {
    const list = byId(name);
    if (!list) return;
    const focused = document.activeElement && document.activeElement.closest("[data-h]");
    for (const id of order) {
      let now = byId(id);
      if (html[id] !== undefined) {
        const box = document.createElement("template");
        box.innerHTML = html[id]; // rendered and escaped by the server
        const next = box.content.firstElementChild;
        if (now && now.dataset.h === next.dataset.h) continue;
        if (now) {
          keep(now, next);
          now.replaceWith(next);
        } else {
          list.append(next);
        }
      }
    }
    const wanted = new Set(order);
    for (const child of [...list.children]) if (!wanted.has(child.id)) child.remove();
    order.forEach((id, i) => {
      const child = byId(id);
      if (child && list.children[i] !== child) list.insertBefore(child, list.children[i] || null);
    });
    if (focused && !document.contains(focused)) refocus(focused);
    if (name === "steps") byId("stream").hidden = true;
    tick();
  }

  // keep carries over what a person opened or scrolled.
  function keep(now, next) {
    const opened = [...now.querySelectorAll("details")], fresh = [...next.querySelectorAll("details")];
    fresh.forEach((d, i) => { if (opened[i]) d.open = opened[i].open; });
  }

  function refocus(gone) {
    const part = byId(gone.id);
    const target = part && part.querySelector("a:not([tabindex]), button, summary");
    if (target) target.focus({ preventScroll: true });
  }

  let step = null;
  let heard = 0;
  const said = new Map(); // by who is writing
  function delta({ step: name, text }) {
    const out = byId("delta");
    if (!out) return;
    const whole = (said.get(name) || "") + text;
    if (whole.length < 200000) said.set(name, whole);
    // Batches answer at the same time: the one that is shown stays until it is silent for two seconds.
    if (name !== step && Date.now() - heard < 2000) return;
    if (name !== step) {
      said.delete(step);
      out.textContent = whole;
    } else if (out.textContent.length < 200000) out.append(text);
    step = name;
    heard = Date.now();
    byId("stream").hidden = false;
  }

  // tick counts the seconds of what is running.
  function tick() {
    for (const el of document.querySelectorAll("[data-since]")) {
      const s = Math.max(0, Math.round((Date.now() - Date.parse(el.dataset.since)) / 1000));
      el.textContent = s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
    }
  }

  function connection(live) {
    const el = byId("conn");
    if (!el) return;
    el.hidden = false;
    el.classList.toggle("lost", !live);
    el.lastElementChild.textContent = live ? "live" : "reconnecting";
  }

  const live = document.body.dataset.live;
  if (live) {
    const source = new EventSource(document.body.dataset.root + "/live?" + live);
    source.addEventListener("open", () => connection(true));
    source.addEventListener("error", () => connection(false));
    source.addEventListener("group", (e) => group(JSON.parse(e.data)));
    source.addEventListener("delta", (e) => delta(JSON.parse(e.data)));
    source.addEventListener("say", (e) => { byId("say").textContent = JSON.parse(e.data).text; });
    addEventListener("pagehide", () => source.close());
    addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
    setInterval(tick, 1000);
    tick();
  }

  // A sign-in link carries its code behind the #, which no server, log or referrer sees. It is taken out of the history.
  const login = byId("login");
  const code = /^#code=([\w-]{20,100})$/.exec(location.hash);
  if (login && code) {
    history.replaceState(null, "", location.pathname + location.search);
    byId("token").value = code[1];
    login.requestSubmit();
  }

  const drop = byId("drop");
  if (drop) {
    const over = (on) => (e) => { e.preventDefault(); drop.classList.toggle("over", on); };
    drop.addEventListener("dragover", over(true));
    drop.addEventListener("dragleave", over(false));
    drop.addEventListener("drop", (e) => {
      over(false)(e);
      if (!e.dataTransfer.files.length) return;
      byId("file").files = e.dataTransfer.files;
      drop.requestSubmit();
    });
  }
})();
