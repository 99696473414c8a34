/**
 * The script of the pages: copies texts, asks before what can't be undone, and updates the tables of the console. The pages
 * work without it. A string, because it runs in the browser.
 */

export const script = `"use strict"
const announce = (text) => {
  const place = document.getElementById("announcements")
  place.textContent = text
  clearTimeout(announce.timer)
  announce.timer = setTimeout(() => { place.textContent = "" }, 6000)
}

const enhance = (root) => {
  for (const part of root.querySelectorAll("button[data-copy], [data-scripted]")) part.hidden = false
}
enhance(document)

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]")
  if (!button) return
  const place = document.getElementById(button.dataset.copy)
  const isField = "value" in place
  if (isField) place.select()
  else getSelection().selectAllChildren(place)
  try {
    await navigator.clipboard.writeText(isField ? place.value : place.textContent)
    announce("Copied.")
  } catch {
    announce("The browser blocks copying. The text is selected: copy it with the keyboard.")
  }
})

document.addEventListener("submit", (event) => {
  const form = event.target
  const { button, text, title } = form.dataset
  if (title === undefined || form.elements.confirmed) return
  event.preventDefault()
  const dialog = document.createElement("dialog")
  const add = (tag, content, parent = dialog) => parent.appendChild(Object.assign(document.createElement(tag), { textContent: content }))
  const heading = Object.assign(add("h2", title), { id: "question" })
  dialog.setAttribute("aria-labelledby", heading.id)
  if (form.elements.subject) add("strong", form.elements.subject.value, add("p", ""))
  add("p", text)
  const actions = Object.assign(add("div", ""), { className: "actions" })
  const confirm = Object.assign(add("button", button, actions), { className: "danger", type: "button" })
  const cancel = Object.assign(add("button", "Cancel", actions), { className: "quiet", type: "button" })
  confirm.addEventListener("click", () => {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "confirmed", value: "yes" }))
    form.submit()
  })
  cancel.addEventListener("click", () => dialog.close())
  dialog.addEventListener("close", () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  cancel.focus()
})

for (const select of document.querySelectorAll("select[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit())
}

const load = async (url) => {
  const response = await fetch(url, { headers: { accept: "text/html" } })
  return new DOMParser().parseFromString(await response.text(), "text/html")
}

const nameOf = (element) => element.getAttribute("href") ?? element.getAttribute("aria-label") ?? element.textContent

// What the sandbox sent for each part. Compared with it, an unchanged part keeps its scroll position, selection and opened details.
const sent = new Map()
const update = (page, names) => {
  for (const name of names) {
    const now = page.getElementById(name)
    const then = document.getElementById(name)
    if (now === null || then === null) continue
    const text = now.innerHTML
    if (text === (sent.get(name) ?? then.innerHTML)) continue
    sent.set(name, text)
    const focused = then.contains(document.activeElement) ? nameOf(document.activeElement) : null
    // What the reader has opened or closed stays so, as long as the same request is shown.
    const isSame = then.dataset.of === now.dataset.of
    const states = isSame ? [...then.querySelectorAll("details")].map((details) => details.open) : []
    then.replaceChildren(...now.childNodes)
    if (now.dataset.of !== undefined) then.dataset.of = now.dataset.of
    enhance(then)
    then.querySelectorAll("details").forEach((details, index) => { if (index < states.length) details.open = states[index] })
    if (focused !== null) [...then.querySelectorAll("a[href], button")].find((element) => nameOf(element) === focused)?.focus()
  }
}

const every = 2000
for (const button of document.querySelectorAll("button[data-follow]")) {
  const names = button.dataset.follow.split(" ")
  for (const name of names) sent.set(name, document.getElementById(name).innerHTML)
  const status = document.getElementById(button.dataset.status)
  let follows = true
  const show = () => {
    button.setAttribute("aria-pressed", String(follows))
  }
  const look = async () => {
    if (follows && !document.hidden) {
      const url = location.href
      try {
        const page = await load(url)
        // A request may have been opened meanwhile.
        if (url === location.href) {
          update(page, names)
          const part = page.querySelector("[data-beside]")
          if (part !== null) document.querySelector("[data-beside]").className = part.className
        }
        status.textContent = ""
      } catch {
        status.textContent = "The sandbox does not respond."
      }
    }
    setTimeout(look, every)
  }
  button.hidden = false
  button.addEventListener("click", () => {
    follows = !follows
    show()
  })
  show()
  setTimeout(look, every)
}

const beside = document.querySelector("[data-beside]")
if (beside) {
  const names = beside.dataset.beside.split(" ")
  const panel = document.getElementById("request")
  /** Shows the item of the address. Ignores responses that arrive after the next selection. */
  const open = async () => {
    const url = location.href
    let page
    try {
      page = await load(url)
    } catch {
      if (url === location.href) announce("The sandbox does not respond.")
      return false
    }
    if (url !== location.href) return false
    const now = page.querySelector("[data-beside]")
    if (now === null) {
      location.reload()
      return false
    }
    beside.className = now.className
    update(page, names)
    panel.scrollTop = 0
    return true
  }
  const go = (url) => {
    if (url !== location.href) history.pushState(null, "", url)
    return open()
  }
  const current = () => beside.querySelector("tr[aria-current] a[data-open]")
  addEventListener("popstate", open)
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[data-open], a[data-close]") ??
      (event.target.closest?.("a, button, summary") || String(getSelection()) !== "" ? null : event.target.closest?.("tr[data-request]")?.querySelector("a[data-open]"))
    if (!link || !beside.contains(link) || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    const isKeyboard = event.detail === 0
    const last = current()?.getAttribute("href")
    if (!await go(link.href)) return
    if (isKeyboard || innerWidth < 1024) {
      const place = link.matches("[data-close]") ? [...beside.querySelectorAll("a[data-open]")].find((row) => row.getAttribute("href") === last) : panel
      place?.focus()
      place?.scrollIntoView({ block: "nearest" })
    }
  })
  document.addEventListener("keydown", async (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest?.("input, select, textarea, dialog")) return
    if (event.key === "Escape") beside.querySelector("a[data-close]")?.click()
    const step = { j: 1, k: -1 }[event.key]
    if (step === undefined) return
    const rows = [...beside.querySelectorAll("tr[data-request] a[data-open]")]
    // By the address, which is ahead of the list while a request loads.
    const position = rows.findIndex((row) => row.href === location.href)
    const row = rows[position < 0 && current() !== null ? rows.indexOf(current()) + step : position < 0 ? 0 : position + step]
    if (row === undefined || !await go(row.href)) return
    current()?.focus({ preventScroll: true })
    current()?.scrollIntoView({ block: "nearest" })
  })
}
`

export const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b54c4"/><path d="M5 13V3h4a3 3 0 0 1 0 6H5" fill="none" stroke="#fff" stroke-width="2"/></svg>`
