/**
 * What a page can do only with a script, and goes without where there is none: copying a value, and following what happens.
 * A string, since it is made for the browser and served as it is.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category constants */
export const script = `"use strict"
for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = document.getElementById(button.dataset.copy)
  const told = document.getElementById(button.dataset.told)
  button.hidden = false
  button.addEventListener("click", async () => {
    field.select()
    try {
      await navigator.clipboard.writeText(field.value)
      told.textContent = "Copied."
    } catch {
      told.textContent = "The browser refused to copy. The value is selected: copy it by keyboard."
    }
  })
}

const every = 2000
for (const button of document.querySelectorAll("button[data-follow]")) {
  const names = button.dataset.follow.split(" ")
  const told = document.getElementById(button.dataset.told)
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
          // What hasn't changed stays, and with it the reader's place and selection.
          if (now !== null && now.innerHTML !== then.innerHTML) then.replaceChildren(...now.childNodes)
        }
        told.textContent = ""
      } catch {
        told.textContent = "The sandbox doesn't answer."
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
