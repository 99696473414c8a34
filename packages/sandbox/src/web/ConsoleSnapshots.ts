/** The console's page of snapshots: saves, restores and removes them, and resets the sandbox. */
import * as Effect from "effect/Effect"
import { Seeding } from "../seeding/Seeding.ts"
import { Snapshots } from "../seeding/Snapshots.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

const path = Layout.paths.snapshots

const sentences = {
  save: "Snapshot saved.",
  restore: "Snapshot restored: accounts, keys, content and the clock are as they were.",
  remove: "Snapshot removed.",
  reset: "Sandbox reset to its initial data."
}

const restoring: Layout.Question = {
  title: "Restore this snapshot?",
  text:
    "It replaces all current data: accounts, keys, posts, products, orders, chats and the clock. Save a snapshot first if you want to come back.",
  button: "Restore"
}

const removing: Layout.Question = { title: "Remove this snapshot?", text: "Its data can't be restored any more.", button: "Remove" }

const resetting: Layout.Question = {
  title: "Reset the sandbox?",
  text: "Restores the initial data and deletes everything else: accounts, keys, posts, faults, the request log. Snapshots stay.",
  button: "Reset sandbox"
}

const nameField: Form.Field = {
  name: "name",
  label: "Name",
  hint: "Letters, digits, dots, dashes and underscores. An existing snapshot of this name is replaced.",
  required: true,
  max: 100
}

export const routes = Effect.gen(function*() {
  const snapshots = yield* Snapshots
  const seeding = yield* Seeding

  const show = (submission: Form.Submission, message?: Html) =>
    Effect.sync(() =>
      Layout.page({
        path,
        title: "Snapshots",
        status: submission.error?.status ?? 200,
        lead: "A snapshot is everything the database holds. Faults, the service variant and the request log are not part of it.",
        message: message ?? Form.errorMessage(submission, [nameField]),
        body: html`<section aria-labelledby="saved">
<h2 id="saved">Saved snapshots</h2>
${
          Layout.table(
            "Snapshots",
            ["Name", "Saved (sandbox time)", "Rows", "Action"],
            snapshots.list().toReversed().map(({ createdAt, name, rows }) =>
              html`<tr><th scope="row"><code>${name}</code></th><td>${
                Layout.timestamp(createdAt)
              }</td><td class="number" data-label="Rows">${rows.toLocaleString("en")}</td><td><div class="actions">${
                Form.button({
                  action: path,
                  values: { do: "restore", name },
                  text: "Restore",
                  of: name,
                  kind: "quiet",
                  question: restoring
                })
              }${
                Form.button({ action: path, values: { do: "remove", name }, text: "Remove", of: name, kind: "danger", question: removing })
              }</div></td></tr>`
            ),
            { kind: "stack", empty: "No snapshots yet. Save one before you try something, and restore it afterwards." }
          )
        }
</section>
<section aria-labelledby="save">
<h2 id="save">Save a snapshot</h2>
<form method="post" action="${path}">
<input type="hidden" name="do" value="save">
${Form.field(submission, nameField)}
<button type="submit">Save snapshot</button>
</form>
<p class="soft small">From a terminal: <code>plaza sandbox snapshot save NAME</code>, <code>restore NAME</code>, <code>list</code>, <code>remove NAME</code>.</p>
</section>
<section aria-labelledby="reset">
<h2 id="reset">Reset</h2>
<p>${resetting.text}</p>
${Form.button({ action: path, values: { do: "reset" }, text: "Reset sandbox", kind: "danger", question: resetting })}
</section>`
      })
    )

  const named = (form: URLSearchParams): string => (form.get("name") ?? "").trim()

  return [
    { method: "GET", path, handle: (request) => show(Form.empty, Layout.done(request, sentences)) },
    {
      method: "POST",
      path,
      handle: Layout.byAction({
        save: ({ form }) =>
          snapshots.save(named(form)).pipe(
            Effect.as(Layout.seeOther(path, "save")),
            Effect.catch((error) => show({ values: form, error }))
          ),
        restore: Layout.confirmed(path, restoring,
          ({ form }) => Effect.as(snapshots.restore(named(form)), Layout.seeOther(path, "restore"))),
        remove: Layout.confirmed(path, removing, ({ form }) => Effect.as(snapshots.remove(named(form)), Layout.seeOther(path, "remove"))),
        reset: Layout.confirmed(path, resetting, () => Effect.as(seeding.reset, Layout.seeOther(path, "reset")))
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
