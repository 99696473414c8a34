/** The console's page of behaviour: changes the clock and the service variant, and shows the assumptions. */
import type { DocumentedError } from "@plaza/domain/Errors"
import { ValidationError } from "@plaza/domain/Errors"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { type Assumptions, CurrentAssumptions, defaults as assumedDefaults, fixedAssumptions, meanings } from "../Assumptions.ts"
import * as Latitude from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { invalidField } from "../Validation.ts"
import { type ClockState, VirtualClock } from "../VirtualClock.ts"
import * as Form from "./Form.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as LatitudeForm from "./LatitudeForm.ts"
import * as Layout from "./Layout.ts"

const path = Layout.paths.behaviour

const next = html`Send a request from your code, or from <a href="${Layout.paths.home}#first">the home page</a>.`

const sentences = {
  advance: "Clock advanced.",
  latitude: html`Service variant changed. ${next}`,
  seed: html`This is another service now. ${next}`,
  default: "The service behaves as by default again.",
  restore: "The service behaves as when the sandbox started again."
}

const units: ReadonlyArray<readonly [value: string, name: string]> = [
  ["seconds", "seconds"],
  ["minutes", "minutes"],
  ["hours", "hours"],
  ["days", "days"]
]
const millisOf: Readonly<Record<string, number>> = {
  seconds: Duration.toMillis("1 second"),
  minutes: Duration.toMillis("1 minute"),
  hours: Duration.toMillis("1 hour"),
  days: Duration.toMillis("1 day")
}

const advanceFields: ReadonlyArray<Form.Field> = [
  { name: "forward", label: "Advance by", type: "number", required: true },
  { name: "unit", label: "Unit", options: units }
]

/** The form as milliseconds; not a number if it is invalid. */
const readAdvance = (form: URLSearchParams): number => Number(form.get("forward") ?? "") * (millisOf[form.get("unit") ?? ""] ?? Number.NaN)

const seedField: Form.Field = {
  name: "seed",
  label: "Seed",
  type: "number",
  required: true,
  hint: "A whole number. The same seed always draws the same service."
}

/** The exclusive maximum of a random seed: a number that people can type. */
const maxSeed = 1_000_000

const clock = ({ aheadMillis, frozen, now }: ClockState, submission: Form.Submission): Html =>
  html`<section aria-labelledby="clock">
<h2 id="clock">Clock</h2>
<p>${Layout.timestamp(now)}, ${
    aheadMillis === 0
      ? frozen ? "frozen" : "the same as the system clock"
      : `${Duration.format(Duration.millis(aheadMillis))} ahead of ${frozen ? "the time at which it was frozen" : "the system clock"}`
  }.</p>
<form method="post" action="${path}">
<input type="hidden" name="do" value="advance">
<div class="fields">${advanceFields.map((field) => Form.field(submission, field))}</div>
<button type="submit">Advance clock</button>
</form>
<p class="soft small">Rate windows, quotas and <code>createdAt</code> follow this clock. Only a reset or a snapshot sets it back.</p>
</section>`

const variant = (current: CurrentLatitude["Service"], seed: Form.Submission, change: Form.Submission): Html => {
  const changed = LatitudeForm.changed(current.value).length
  const startsOtherwise = LatitudeForm.changed(current.start).length > 0
  return html`<section aria-labelledby="variant">
<h2 id="variant">Service variant</h2>
<p>What the document lets a service choose. An integration must work with every variant.</p>
<p>${
    changed === 0
      ? `All ${LatitudeForm.total} fields have their default: the simplest service.`
      : html`<strong>${changed} of ${LatitudeForm.total} fields differ</strong> from the default. ${
        current.seed !== undefined &&
        html`Drawn from the seed <strong>${current.seed}</strong>: <code>plaza sandbox start --latitude ${current.seed}</code> starts with it.`
      }`
  }</p>
<div class="actions">${Form.button({ action: path, values: { do: "another" }, text: "Try another service" })}${
    changed > 0 && Form.button({ action: path, values: { do: "default" }, text: "Reset to the default", kind: "quiet" })
  }${startsOtherwise && Form.button({ action: path, values: { do: "restore" }, text: "Restore the one of the start", kind: "quiet" })}</div>
${changed > 0 && html`<h3>Differences</h3>${LatitudeForm.differences(current.value)}`}
<h3>Repeat a service</h3>
<form method="post" action="${path}"><input type="hidden" name="do" value="seed">
${Form.field(seed, seedField)}
<button type="submit" class="quiet">Draw from the seed</button></form>
<h3>All fields</h3>
${LatitudeForm.view(current.value, change)}
</section>`
}

const written = (value: Assumptions[keyof Assumptions]): Piece =>
  Duration.isDuration(value)
    ? Duration.format(value)
    : typeof value === "object"
    ? html`<details><summary>${Object.keys(value).length} operations</summary><dl class="facts">${
      Object.entries(value).map(([operation, scope]) => html`<dt>${operation}</dt><dd><code>${scope ?? "none"}</code></dd>`)
    }</dl></details>`
    : html`<code>${String(value)}</code>`

const isDefault = (name: keyof Assumptions, value: unknown): boolean => JSON.stringify(value) === JSON.stringify(assumedDefaults[name])

const assumptions = (assumed: Assumptions): Html => {
  // True because the meanings have exactly the names of the assumptions.
  const names = Object.keys(meanings) as ReadonlyArray<keyof Assumptions>
  return html`<section aria-labelledby="assumptions">
<h2 id="assumptions">Assumptions</h2>
<p>What the document leaves open and the sandbox had to decide. They are set when the sandbox starts, with <code>--assumptions FILE</code>, and do not change while it runs.</p>
${
    Layout.table(
      "Assumptions",
      ["Name", "Value", "Meaning"],
      names.map((name) =>
        html`<tr><th scope="row"><code>${name}</code></th><td class="long">${written(assumed[name])}${
          !isDefault(name, assumed[name]) && html` <span class="badge note">changed</span>`
        }</td><td class="long">${Layout.withCode(meanings[name])}</td></tr>`
      ),
      { kind: "stack" }
    )
  }
<details><summary>${fixedAssumptions.length} built-in assumptions</summary>
${
    Layout.table(
      "Built-in assumptions",
      ["Id", "Section", "Assumption"],
      fixedAssumptions.map(({ assumption, id, section }) =>
        html`<tr><th scope="row"><code>${id}</code></th><td>${section}</td><td class="long">${Layout.withCode(assumption)}</td></tr>`
      ),
      { kind: "stack" }
    )
  }</details>
</section>`
}

interface Submissions {
  readonly advance?: Form.Submission
  readonly seed?: Form.Submission
  readonly latitude?: Form.Submission
}

export const routes = Effect.gen(function*() {
  const time = yield* VirtualClock
  const current = yield* CurrentLatitude
  const assumed = yield* CurrentAssumptions

  const show = ({ advance = Form.empty, latitude: change = Form.empty, seed = Form.empty }: Submissions, message?: Html) =>
    Effect.map(time.read, (now) =>
      Layout.page({
        path,
        title: "Behaviour",
        status: (advance.error ?? seed.error ?? change.error)?.status ?? 200,
        message: message ?? Form.errorMessage(advance, advanceFields) ?? Form.errorMessage(seed, [seedField]) ??
          Form.errorMessage(change, LatitudeForm.labels),
        body: html`${clock(now, advance)}
${variant(current, seed, change)}
${assumptions(assumed)}`
      }))

  const orShow = (values: URLSearchParams, part: keyof Submissions) => (error: DocumentedError) =>
    show({ [part]: { values, error } satisfies Form.Submission })

  return [
    { method: "GET", path, handle: (request) => show({}, Layout.done(request, sentences)) },
    {
      method: "POST",
      path,
      handle: Layout.byAction({
        advance: ({ form }) =>
          time.advance(readAdvance(form)).pipe(
            Effect.as(Layout.seeOther(path, "advance")),
            // The clock's own message names the field `millis`, which the form doesn't have.
            Effect.mapError(() => invalidField("forward", "must be above 0, and the new time must be before the year 10000")),
            Effect.catch(orShow(form, "advance"))
          ),
        seed: ({ form }) => {
          const seed = Number(form.get("seed") || Number.NaN)
          if (!Number.isSafeInteger(seed)) {
            return orShow(form, "seed")(invalidField("seed", "must be a whole number"))
          }
          current.change({ seed })
          return Effect.succeed(Layout.seeOther(path, "seed"))
        },
        another: () =>
          Effect.map(Random.nextIntBetween(1, maxSeed), (seed) => {
            current.change({ seed })
            return Layout.seeOther(path, "seed")
          }),
        default: () => {
          current.change(Latitude.defaults)
          return Effect.succeed(Layout.seeOther(path, "default"))
        },
        latitude: ({ form }) =>
          Result.match(Latitude.decode(LatitudeForm.read(form, current.value)), {
            onFailure: (problem) => {
              const name = /^"(\w+)"/.exec(problem)?.[1]
              return orShow(form, "latitude")(
                new ValidationError({ message: problem, details: name === undefined ? {} : { field: name } })
              )
            },
            onSuccess: (change) => {
              current.change(change)
              return Effect.succeed(Layout.seeOther(path, "latitude"))
            }
          }),
        restore: () => {
          current.reset()
          return Effect.succeed(Layout.seeOther(path, "restore"))
        }
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
