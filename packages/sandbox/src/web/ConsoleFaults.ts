/** The console's page of faults: presets, the active faults, and the form that adds or changes one. */
import type { DocumentedError } from "@plaza/domain/Errors"
import { ValidationError } from "@plaza/domain/Errors"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ActiveFault, Fault, Latency } from "../http/Fault.ts"
import { FaultId } from "../http/Fault.ts"
import { faultPresets } from "../http/FaultPresets.ts"
import { Faults } from "../http/Faults.ts"
import * as FaultForm from "./FaultForm.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

const path = Layout.paths.faults

const sentences = {
  preset: "Preset added.",
  add: "Fault added.",
  replace: "Fault changed.",
  remove: "Fault removed.",
  clear: "All faults cleared."
}

const clearing: Layout.Question = {
  title: "Clear all faults?",
  text: "Every active fault ends, and its counters are lost.",
  button: "Clear all faults"
}

const latency = (value: Latency): string => {
  if (typeof value === "number") {
    return `${value} ms`
  }
  switch (value.distribution) {
    case "uniform":
      return `${value.min} to ${value.max} ms`
    case "normal":
      return `${value.mean} ms, deviation ${value.deviation} ms`
    case "logNormal":
      return `${value.median} ms, 99th percentile ${value.p99} ms`
  }
}

const shown = new Set([
  "kind",
  "when",
  "method",
  "path",
  "nth",
  "every",
  "times",
  "lastsMillis",
  "rate",
  "key",
  "account",
  "millis",
  "status",
  "outcomes"
])

/** What happens, as words. */
const outcome = (fault: Fault): string => {
  const status = "status" in fault && fault.status !== undefined ? ` ${fault.status}` : ""
  const millis = fault.kind === "delay" ? ` of ${latency(fault.millis)}` : fault.kind === "slow" ? ` over ${fault.millis} ms` : ""
  const outcomes = fault.kind === "sequence" ? `: ${fault.outcomes.map(({ kind }) => kind).join(", ")}` : ""
  return `${fault.kind}${status}${millis}${outcomes}${"when" in fault ? `, ${fault.when} the commit` : ""}`
}

/** Which calls it hits, as words. */
const calls = ({ account, every, key, lastsMillis, method = "*", nth, path, rate }: Fault): string =>
  [
    [method === "*" ? "any method" : method, path ?? "any path"].join(" "),
    ...(account === undefined ? [] : [`account ${account}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(nth === undefined ? [] : [`from call ${nth}`]),
    ...(every === undefined ? [] : [`every ${every}th`]),
    ...(rate === undefined || rate === 1 ? [] : [`${Math.round(rate * 1_000) / 10} % of them`]),
    ...(lastsMillis === undefined ? [] : [`for ${Duration.format(Duration.millis(lastsMillis))}`])
  ].join(", ")

const row = ({ fault, hits, id, remaining }: ActiveFault): Html => {
  const further = Object.entries(fault).filter(([name, value]) => !shown.has(name) && value !== undefined)
  return html`<tr>
<th scope="row"><code>${id}</code></th>
<td class="long">${outcome(fault)}${
    further.map(([name, value]) => html`<br><span class="soft small">${name}: ${String(value)}</span>`)
  }</td>
<td class="long">${calls(fault)}</td>
<td class="number" data-label="Hits">${hits}</td>
<td class="number" data-label="Remaining">${remaining ?? "unlimited"}</td>
<td><div class="actions"><a href="${path}?edit=${id}#form" aria-label="Edit ${id}">Edit</a>${
    Form.button({ action: path, values: { do: "remove", id }, text: "Remove", of: id, kind: "quiet" })
  }</div></td>
</tr>`
}

/** The form on the page: of a new fault, or of an active one. */
interface Shown {
  readonly kind: FaultForm.Kind
  readonly submission: Form.Submission
  readonly id?: string | undefined
}

export const routes = Effect.gen(function*() {
  const faults = yield* Faults

  const show = ({ id, kind, submission }: Shown, message?: Html) =>
    Effect.map(faults.list, (active) =>
      Layout.page({
        path,
        title: "Faults",
        status: submission.error?.status ?? 200,
        message: message ?? Form.errorMessage(submission, FaultForm.fields),
        body: html`<section aria-labelledby="active">
<h2 id="active">Active faults</h2>
<p class="actions soft small"><a href="${path}">Refresh</a>
<button type="button" class="quiet" data-follow="live-faults" data-status="follow-status" aria-pressed="false" hidden>Live</button>
<span id="follow-status" role="status"></span></p>
${
          Layout.table("Active faults", ["Id", "What happens", "Which calls", "Hits", "Remaining", "Action"], active.map(row), {
            id: "live-faults",
            kind: "stack",
            empty: "No active faults. Add a preset, or fill in the form."
          })
        }
${
          active.length > 0 &&
          Form.button({ action: path, values: { do: "clear" }, text: "Clear all faults", kind: "danger", question: clearing })
        }
</section>
<section aria-labelledby="presets">
<h2 id="presets">Presets</h2>
<div class="presets">${
          Object.entries(faultPresets).map(([key, preset]) =>
            html`<div class="preset"><h3>${preset.name}</h3><p class="soft small">${preset.text}</p>${
              Form.button({ action: path, values: { do: "preset", preset: key }, text: "Add", of: preset.name, kind: "quiet" })
            }</div>`
          )
        }</div>
</section>
<section id="form" aria-labelledby="form-title">
<h2 id="form-title">${id === undefined ? "Add a fault" : html`Change <code>${id}</code>`}</h2>
${FaultForm.view(kind, submission, id)}
</section>`
      }))

  const find = (id: string) => Effect.map(faults.list, (active) => active.find((fault) => fault.id === id))

  const get: Layout.Route["handle"] = (request) =>
    Effect.gen(function*() {
      const edited = yield* find(request.query.get("edit") ?? "")
      const chosen = request.query.get("kind") ?? edited?.fault.kind ?? "status"
      const kind = FaultForm.isKind(chosen) ? chosen : "status"
      const values = edited === undefined ? new URLSearchParams() : FaultForm.inputsOf(edited.fault)
      return yield* show({ kind, submission: { values }, id: edited?.id }, Layout.done(request, sentences))
    })

  const submitted = (
    action: "add" | "replace",
    run: (fault: Fault, form: URLSearchParams) => Effect.Effect<unknown, DocumentedError>
  ): Layout.Route["handle"] =>
  ({ form }) => {
    const kind = form.get("kind") ?? ""
    const id = action === "replace" ? form.get("id") ?? "" : undefined
    return Result.match(FaultForm.read(form), {
      onFailure: (error) => show({ kind: FaultForm.isKind(kind) ? kind : "status", submission: { values: form, error }, id }),
      onSuccess: (fault) =>
        Effect.catchTag(
          Effect.as(run(fault, form), Layout.seeOther(path, action)),
          "ValidationError",
          (error) => show({ kind: fault.kind, submission: { values: form, error }, id })
        )
    })
  }

  return [
    { method: "GET", path, handle: get },
    {
      method: "POST",
      path,
      handle: Layout.byAction({
        preset: ({ form }) =>
          Effect.gen(function*() {
            const name = form.get("preset") ?? ""
            const preset = Object.hasOwn(faultPresets, name) ? faultPresets[name] : undefined
            if (preset === undefined) {
              return yield* new ValidationError({ message: "there is no preset of this name" })
            }
            yield* faults.add(preset.fault)
            return Layout.seeOther(path, "preset")
          }),
        add: submitted("add", faults.add),
        replace: submitted("replace", (fault, form) => faults.replace(FaultId.make(form.get("id") ?? ""), fault)),
        remove: ({ form }) => Effect.as(faults.remove(FaultId.make(form.get("id") ?? "")), Layout.seeOther(path, "remove")),
        clear: Layout.confirmed(path, clearing, () => Effect.as(Effect.sync(faults.clear), Layout.seeOther(path, "clear")))
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
