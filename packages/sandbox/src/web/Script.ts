/**
 * The script of the pages: copies a key, and updates the tables of the console. The pages work without it. A string,
 * because it runs in the browser.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category constants */
export const script = `"use strict"
for (const button of document.querySelectorAll("button[data-copy]")) {
  const field = document.getElementById(button.dataset.copy)
  const status = document.getElementById(button.dataset.status)
  button.hidden = false
  button.addEventListener("click", async () => {
    field.select()
    try {
      await navigator.clipboard.writeText(field.value)
      status.textContent = "Copied."
    } catch {
      status.textContent = "The browser blocks copying. The value is selected: copy it with the keyboard."
    }
  })
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
