/**
 * The script of the pages: copies texts, asks before what can't be undone, and updates the tables of the console. The pages
 * work without it. A string, because it runs in the browser.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category constants */
export const script = `"use strict"
const announce = (text) => {
  const place = document.getElementById("announcements")
  place.textContent = text
  clearTimeout(announce.timer)
  announce.timer = setTimeout(() => { place.textContent = "" }, 6000)
}

const enhance = (root) => {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = false
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

const every = 2000
for (const button of document.querySelectorAll("button[data-follow]")) {
  const names = button.dataset.follow.split(" ")
  const status = document.getElementById(button.dataset.status)
  let follows = true
  const show = () => {
    button.setAttribute("aria-pressed", String(follows))
  }
  const look = async () => {
    if (follows && !document.hidden) {
      try {
        const response = await fetch(location.href, { headers: { accept: "text/html" } })
        const page = new DOMParser().parseFromString(await response.text(), "text/html")
        for (const name of names) {
          const now = page.getElementById(name)
          const then = document.getElementById(name)
          // Unchanged parts keep their scroll position and selection.
          if (now !== null && now.innerHTML !== then.innerHTML) then.replaceChildren(...now.childNodes)
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
`

/** @since 0.1.0 @category constants */
export const icon =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b54c4"/><path d="M5 13V3h4a3 3 0 0 1 0 6H5" fill="none" stroke="#fff" stroke-width="2"/></svg>`
