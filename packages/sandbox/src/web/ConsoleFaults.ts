/** The console's page of faults: presets, the active faults, and the form that adds or changes one. */
import type { DocumentedError } from "@plaza/domain/Errors"
import { ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { ActiveFault, Fault, Latency } from "../http/Fault.ts"
import { FaultId } from "../http/Fault.ts"
import { faultPresets } from "../http/FaultPresets.ts"
import { Faults } from "../http/Faults.ts"
import * as Glob from "../http/Glob.ts"
import { operations } from "../InterfaceApi.ts"
import { VirtualClock } from "../VirtualClock.ts"
import * as FaultForm from "./FaultForm.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import { operationPath } from "./ReferencePages.ts"

const path = Layout.paths.faults

const ordinals = new Intl.PluralRules("en", { type: "ordinal" })

const verbs: Readonly<Record<string, string>> = { add: "added", replace: "changed", remove: "removed" }

/** The action of a form with the fault that it acted on, as its cookie keeps both. */
const doneOf = (action: string, id: string): string => `${action}-${id}`

const readDone = (done: string): { readonly verb: string; readonly id: string } | undefined => {
  const [, action = "", id = ""] = /^([a-z]+)-(fault_\d+)$/.exec(done) ?? []
  const verb = Object.hasOwn(verbs, action) ? verbs[action] : undefined
  return verb === undefined ? undefined : { verb, id }
}

const clearing: Layout.Question = {
  title: "Clear all faults?",
  text: "Every active fault ends, and its counters are lost.",
  button: "Clear all faults"
}

const ordinal = (number: number): string => {
  const suffix = new Map([["one", "st"], ["two", "nd"], ["few", "rd"]]).get(ordinals.select(number)) ?? "th"
  return `${number}${suffix}`
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

const share = (rate: number): string => `${Number((rate * 100).toPrecision(3))} %`

const maxShownValue = 100

const shortened = (value: unknown): string => {
  const text = value === "" ? "empty" : String(value)
  return text.length > maxShownValue ? `${text.slice(0, maxShownValue - 1)}…` : text
}

/** A call that it hits: "POST /posts", "PATCH", "call of /chat/*" or "call". */
const call = ({ method = "*", path = "*" }: Fault, noun = "call"): Html =>
  method === "*"
    ? path === "*" ? html`${noun}` : html`${noun} of <code>${shortened(path)}</code>`
    : html`<code>${method}${path !== "*" && ` ${shortened(path)}`}</code>`

/** Which calls it hits, as words. */
const calls = (fault: Fault): Html => {
  const { account, every, key, nth, rate } = fault
  const further = [
    ...(account === undefined ? [] : [`account ${account}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(nth === undefined ? [] : [`from call ${nth}`]),
    ...(every === undefined ? [] : [`every ${ordinal(every)}`]),
    ...(rate === undefined || rate === 1 ? [] : [`${share(rate)} of them`])
  ]
  return html`every ${call(fault)}${further.map((part) => `, ${part}`)}`
}

/** How long a fault lasts, in whole seconds; the last one counts until it is over. */
const seconds = (millis: number): string => `${Math.ceil(millis / 1_000).toLocaleString("en")} s`

/** When it ends, as words. */
const ending = ({ remaining }: ActiveFault, timeLeft: number | undefined): string => {
  const count = remaining === null ? [] : [`${remaining.toLocaleString("en")} ${remaining === 1 ? "call" : "calls"}`]
  const time = timeLeft === undefined ? [] : [`ends in ${seconds(timeLeft)}`]
  return [...count, ...time].join(", ") || "unlimited"
}

const row = (active: ActiveFault, timeLeft: number | undefined): Html => {
  const { fault, hits, id } = active
  const further = Object.entries(fault).filter(([name, value]) => !shown.has(name) && value !== undefined)
  return html`<tr>
<th scope="row"><code>${id}</code></th>
<td class="long">${outcome(fault)}${
    further.map(([name, value]) => html`<br><span class="soft small">${FaultForm.labels.get(name) ?? name}: ${shortened(value)}</span>`)
  }</td>
<td class="long">${calls(fault)}</td>
<td class="number" data-label="Hits">${hits}</td>
<td class="number" data-label="Remaining">${ending(active, timeLeft)}</td>
<td><div class="actions"><a href="${path}?edit=${id}#form" aria-label="Edit ${id}">Edit</a>${
    Form.button({ action: path, values: { do: "remove", id }, text: "Remove", of: id, kind: "quiet" })
  }</div></td>
</tr>`
}

const moment = (when: "before" | "after"): string => `${when} it is carried out`

/** What happens to a call, as the end of a sentence. */
const effect = (fault: Fault): string => {
  switch (fault.kind) {
    case "status":
      return `${fault.status < 400 ? "gets" : "fails with"} ${fault.status} ${moment(fault.when)}`
    case "delay":
      return `is delayed by ${latency(fault.millis)}`
    case "drop":
      return `gets no response: the connection closes ${moment(fault.when)}`
    case "cut":
      return `gets half a response ${moment(fault.when)}`
    case "slow":
      return `gets its response slowly, over ${fault.millis} ms`
    case "garbage":
      return "is carried out, and gets a body that is not JSON"
    case "sequence":
      return `gets the next outcome: ${fault.outcomes.map(({ kind }) => kind).join(", ")}`
  }
}

/** Which calls it hits from now on, as the beginning of a sentence. */
const hit = ({ fault, remaining }: ActiveFault): Html => {
  const { account, every, key, nth, rate } = fault
  const isPart = every !== undefined || (rate !== undefined && rate !== 1)
  const next = every !== undefined
    ? `every ${ordinal(every)}`
    : isPart || remaining === null
    ? "every"
    : remaining === 1
    ? "the next"
    : `each of the next ${remaining}`
  const further = [
    ...(account === undefined ? [] : [`of the account ${account}`]),
    ...(key === undefined ? [] : [`with the key ${key}`]),
    ...(nth === undefined ? [] : [`from the ${ordinal(nth)} one on`]),
    ...(rate === undefined || rate === 1 ? [] : [`by a chance of ${share(rate)}`]),
    ...(isPart && remaining !== null ? [`until ${remaining === 1 ? "one is" : `${remaining} are`} hit,`] : [])
  ]
  return html`${next} ${call(fault, isPart || remaining === null || remaining === 1 ? "call" : "calls")}${
    further.map((part) => ` ${part}`)
  }`
}

/** The path of an operation with `*` for each parameter. */
const pattern = (path: string): string => path.replaceAll(/:\w+/g, "*")

/** The form on the page: of a new fault, or of an active one. */
interface Shown {
  readonly kind: FaultForm.Kind
  readonly submission: Form.Submission
  readonly id?: string | undefined
}

export const routes = Effect.gen(function*() {
  const faults = yield* Faults
  const clock = yield* VirtualClock
  const { undocumented } = yield* CurrentAssumptions
  const served = [...operations.values()].filter(({ isAssumed }) => undocumented || !isAssumed)

  /** The endpoints, with `*` for each parameter. */
  const targets = served.map(({ method, path }) => `${method} ${pattern(path)}`)

  /** Where a page can send a call that the fault hits; undefined if the pages have no such call. */
  const sender = ({ account, key, method = "*", path: wanted = "*" }: Fault): Html | undefined => {
    const matches = Glob.make(wanted)
    // The pages send with the seeded key, which a filter may exclude.
    const found = account !== undefined || key !== undefined
      ? undefined
      : served.find((operation) =>
        (method === "*" || method === operation.method) &&
        (matches(pattern(operation.path)).matches || Glob.make(pattern(operation.path))(wanted).matches)
      )
    return found === undefined
      ? undefined
      : found.name === "getMe"
      ? html`<a href="${Layout.paths.home}#first">the home page</a>`
      : html`<a href="${operationPath(found.name)}">the reference</a>`
  }

  const messageOf = ({ done }: Layout.PageRequest, active: ReadonlyArray<ActiveFault>, timesLeft: ReadonlyMap<string, number>) => {
    if (done === "clear") return Layout.success("All faults cleared: calls get the service's own responses again.")
    const found = readDone(done)
    if (found === undefined) return undefined
    const { id, verb } = found
    const fault = active.find((known) => known.id === id)
    if (fault === undefined || verb === "removed") return Layout.success(`Fault ${id} ${verb}.`)
    const timeLeft = timesLeft.get(id)
    const from = sender(fault.fault)
    return Layout.success(
      html`Fault ${id} ${verb}: ${timeLeft !== undefined && `for ${seconds(timeLeft)}, `}${hit(fault)} ${effect(fault.fault)}. `,
      "Send a request from your code",
      from !== undefined && html`, or from ${from}`,
      "."
    )
  }

  const show = ({ id, kind, submission }: Shown, request?: Layout.PageRequest) =>
    Effect.gen(function*() {
      const active = yield* faults.list
      const timesLeft = yield* faults.timesLeft
      const { frozen } = yield* clock.read
      return Layout.page({
        path,
        title: "Faults",
        status: submission.error?.status ?? 200,
        message: request === undefined
          ? Form.errorMessage(submission, FaultForm.fieldsOf(kind))
          : messageOf(request, active, timesLeft),
        body: html`<section aria-labelledby="active">
<h2 id="active">Active faults</h2>
<p class="actions soft small"><a href="${path}">Refresh</a>
<button type="button" class="quiet" data-follow="live-faults" data-status="follow-status" aria-pressed="false" hidden>Live</button>
<span id="follow-status" role="status"></span></p>
${
          Layout.table(
            "Active faults",
            ["Id", "What happens", "Which calls", "Hits", "Remaining", "Action"],
            active.map((fault) => row(fault, timesLeft.get(fault.id))),
            {
              id: "live-faults",
              kind: "stack",
              empty: "No active faults. Add a preset, or fill in the form."
            }
          )
        }
${
          frozen && timesLeft.size > 0 &&
          html`<p class="soft small">The clock is frozen, so a time ends only when you <a href="${Layout.paths.behaviour}">advance it</a>.</p>`
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
${FaultForm.view({ kind, submission, id, targets })}
</section>`
      })
    })

  const find = (id: string) => Effect.map(faults.list, (active) => active.find((fault) => fault.id === id))

  const get: Layout.Route["handle"] = (request) =>
    Effect.gen(function*() {
      const edited = yield* find(request.query.get("edit") ?? "")
      const chosen = request.query.get("kind") ?? edited?.fault.kind ?? "status"
      const kind = FaultForm.isKind(chosen) ? chosen : "status"
      const values = edited === undefined ? new URLSearchParams() : FaultForm.inputsOf(edited.fault)
      return yield* show({ kind, submission: { values }, id: edited?.id }, request)
    })

  const submitted = (
    action: "add" | "replace",
    run: (fault: Fault, form: URLSearchParams) => Effect.Effect<string, DocumentedError>
  ): Layout.Route["handle"] =>
  ({ form }) => {
    const kind = form.get("kind") ?? ""
    const id = action === "replace" ? form.get("id") ?? "" : undefined
    return Result.match(FaultForm.read(form), {
      onFailure: (error) => show({ kind: FaultForm.isKind(kind) ? kind : "status", submission: { values: form, error }, id }),
      onSuccess: (fault) =>
        Effect.catchTag(
          Effect.map(run(fault, form), (id) => Layout.seeOther(path, doneOf(action, id))),
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
            return Layout.seeOther(path, doneOf("add", yield* faults.add(preset.fault)))
          }),
        add: submitted("add", faults.add),
        replace: submitted("replace",
          (fault, form) => Effect.map(faults.replace(FaultId.make(form.get("id") ?? ""), fault), ({ id }) => id)),
        remove: ({ form }) => {
          const id = form.get("id") ?? ""
          return Effect.as(faults.remove(FaultId.make(id)), Layout.seeOther(path, doneOf("remove", id)))
        },
        clear: Layout.confirmed(path, clearing, () => Effect.as(Effect.sync(faults.clear), Layout.seeOther(path, "clear")))
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
