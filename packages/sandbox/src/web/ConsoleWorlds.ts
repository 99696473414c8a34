/** The console's page of worlds: lists, creates, opens and removes them. */
import { InternalError, NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { basePath } from "../InterfaceApi.ts"
import { NewWorld } from "../worlds/WorldModels.ts"
import { CurrentWorld, mainWorld, type World, Worlds } from "../worlds/Worlds.ts"
import * as ChosenWorld from "./ChosenWorld.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

const path = Layout.paths.worlds

const sentences = { make: "World made.", remove: "World removed." }

const removing: Layout.Question = {
  title: "Remove this world?",
  text: "Everything behind it is deleted, and the connections of its requests are closed.",
  button: "Remove"
}

const idField: Form.Field = {
  name: "id",
  label: "Name",
  hint: "Lower-case letters, digits and hyphens. Empty: the next free one, such as w1.",
  max: 40
}

/** The world is not in the list any more, so the message has the button. */
const notDeleted = (id: string, message: string): Html =>
  html`<div class="message bad" role="alert"><p>${message}</p>${
    Form.button({ action: path, values: { do: "remove", id, confirmed: "yes" }, text: "Remove again", of: id, kind: "quiet" })
  }</div>`

const decode = Schema.decodeUnknownEffect(NewWorld.fields.id.schema)

export const routes = Effect.gen(function*() {
  const worlds = yield* Worlds

  const row = (origin: string, world: World | undefined, isShown: boolean): Html => {
    const name = world?.id ?? mainWorld
    const { prefix } = world === undefined ? CurrentWorld.main : CurrentWorld.named(world.id)
    return html`<tr><th scope="row"><code>${name}</code>${
      isShown && html` <span class="badge good">shown</span>`
    }</th><td data-label="Base URL"><code>${origin + prefix + basePath}</code></td><td data-label="Made">${
      world !== undefined && Layout.timestamp(world.createdAt)
    }</td><td><div class="actions">${
      !isShown && Form.button({ action: path, values: { do: "show", id: world?.id ?? "" }, text: "Show", of: name, kind: "quiet" })
    }${
      world !== undefined &&
      Form.button({ action: path, values: { do: "remove", id: world.id }, text: "Remove", of: name, kind: "danger", question: removing })
    }</div></td></tr>`
  }

  const show = ({ cookies, origin }: Layout.PageRequest, submission: Form.Submission, message?: Html) =>
    Effect.sync(() => {
      const shown = ChosenWorld.of(worlds, cookies)
      return Layout.page({
        path,
        title: "Worlds",
        status: submission.error?.status ?? 200,
        lead:
          "A world is a sandbox beside this one, in the same process: own addresses, data, keys, clock, faults, limits and log. Tests that run at the same time use one each.",
        message: message ?? Form.errorMessage(submission, [idField]),
        body: html`<section aria-labelledby="worlds">
<h2 id="worlds">Worlds</h2>
${
          Layout.table("Worlds", ["Name", "Base URL", "Made", "Action"], [
            row(origin, undefined, shown === undefined),
            ...worlds.list().map((world) => row(origin, world, world === shown))
          ], { kind: "stack" })
        }
</section>
<section aria-labelledby="make">
<h2 id="make">Make a world</h2>
<form method="post" action="${path}">
<input type="hidden" name="do" value="make">
${Form.field(submission, idField)}
<button type="submit">Make world</button>
</form>
<p class="soft small">From a test: <code>POST ${origin}/sandbox/worlds</code> with <code>{}</code> returns its addresses and its key.</p>
</section>`
      })
    })

  const idOf = (form: URLSearchParams): string => (form.get("id") ?? "").trim()

  const make = Effect.fnUntraced(function*(form: URLSearchParams) {
    const id = idOf(form)
    const options = id === "" ? {} : {
      id: yield* Effect.mapError(decode(id), () =>
        new ValidationError({
          message: "\"id\" must have 1 to 40 lower-case letters, digits and hyphens, and start with a letter or a digit",
          details: { field: "id" }
        }))
    }
    yield* Effect.catchTag(worlds.create(options), "SandboxError",
      ({ message }) => Effect.fail(new ValidationError({ message, details: { field: "id" } })))
    return Layout.seeOther(path, "make")
  })

  return [
    { method: "GET", path, handle: (request) => show(request, Form.empty, Layout.done(request, sentences)) },
    {
      method: "POST",
      path,
      handle: Layout.byAction({
        make: (request) => make(request.form).pipe(Effect.catch((error) => show(request, { values: request.form, error }))),
        show: ({ form }) => {
          const id = idOf(form)
          return id === "" || worlds.find(id) !== undefined
            ? Effect.succeed(ChosenWorld.choose(id === "" ? undefined : id, Layout.paths.console))
            : Effect.fail(new NotFound({ message: `There is no world "${id}". It may have been removed.` }))
        },
        remove: Layout.confirmed(path, removing, (request) => {
          const id = idOf(request.form)
          return worlds.remove(id).pipe(
            Effect.as(Layout.seeOther(path, "remove")),
            Effect.catchTag("SandboxError",
              ({ message }) =>
                show(request, { values: new URLSearchParams(), error: new InternalError({ message }) }, notDeleted(id, message)))
          )
        })
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
