/**
 * The demonstration of the home page: a post fails after it is stored. The page sends what a careful client sends, and shows what the
 * caller received beside what the sandbox did.
 */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import { Commits } from "../http/Commits.ts"
import type { Fault } from "../http/Fault.ts"
import { Faults } from "../http/Faults.ts"
import type { RequestDetail } from "../http/RequestLog.ts"
import { RequestLog } from "../http/RequestLog.ts"
import * as Calls from "./Calls.ts"
import * as Curl from "./Curl.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import type * as Replay from "./Replay.ts"
import { delivery } from "./RequestList.ts"

/** The next post is stored, and its caller receives 503. */
const fault: Fault = { kind: "status", when: "after", status: 503, method: "POST", path: "/posts" }

const fieldsOf = (one: Fault): string => JSON.stringify(Object.entries(one).toSorted(([name], [other]) => name < other ? -1 : 1))

const isArmed = (other: Fault): boolean => fieldsOf(other) === fieldsOf(fault)

const text = "Fresh bread from eight o'clock."

/** The requests of a demonstration and their results. */
interface Shown {
  readonly sent: RequestDetail
  /** The id of the stored post; undefined if none was stored. */
  readonly postId: string | undefined
  /** The list that looks for the post; undefined if the outcome is known. */
  readonly list: RequestDetail | undefined
  /** Whether the list has the post, on its only page; undefined if nobody can know from it. */
  readonly isListed: boolean | undefined
}

export interface Demonstration {
  /** Sends the post and, after an ambiguous failure, the list. Returns the ids of the requests. */
  readonly run: (baseUrl: string, key: string) => Effect.Effect<ReadonlyArray<string>, ValidationError>
  /** Makes the next post of any caller fail. Returns the id of the fault. */
  readonly arm: Effect.Effect<string, ValidationError>
  /** What {@link run} did; undefined if the requests are no longer kept. */
  readonly read: (ids: ReadonlyArray<string>) => Shown | undefined
}

export const make = Effect.fnUntraced(function*(replay: Replay.Replay) {
  const faults = yield* Faults
  const log = yield* RequestLog
  const commits = yield* Commits

  const run: Demonstration["run"] = Effect.fnUntraced(function*(baseUrl, key) {
    const headers = { authorization: `Bearer ${key}`, accept: "application/json", "user-agent": "plaza-sandbox-page" }
    const before = yield* faults.list
    const added = yield* faults.add(fault)
    const body = new TextEncoder().encode(JSON.stringify({ text }))
    const sent = yield* replay.send({
      method: "POST",
      url: `${baseUrl}/posts`,
      headers: { ...headers, "content-type": "application/json", "content-length": String(body.length) },
      body
    })
    const detail = log.detail(sent)
    // Another fault, or a refusal, can come before it. One that waits for a program stays: the new one takes its place.
    const isReplacement = before.some((other) => detail?.faults.includes(other.id) === true && isArmed(other.fault))
    if (!isReplacement) yield* Effect.ignore(faults.remove(added))
    const status = detail?.deliveredStatus ?? null
    return status === null || status >= 500
      ? [sent, yield* replay.send({ method: "GET", url: `${baseUrl}/me/posts`, headers, body: undefined })]
      : [sent]
  })

  const read: Demonstration["read"] = ([sentId = "", listId = ""]) => {
    const sent = log.detail(sentId)
    const postId = commits.effectOf(sentId)?.createdId ?? undefined
    const list = log.detail(listId)
    const original = log.original(listId)
    const listed = original && list?.delivered === "complete" && list.deliveredStatus === 200 ? Calls.readList(original) : undefined
    return sent && {
      sent,
      postId,
      list,
      // Another page may have it.
      isListed: listed && (postId === undefined ? false : listed.ids.has(postId) || (listed.isLast ? false : undefined))
    }
  }

  return { run, arm: faults.add(fault), read } satisfies Demonstration
})

const stepsOf = ({ isListed, list, postId, sent }: Shown): Html => {
  const request = ({ id, method, path }: RequestDetail) =>
    html`<a href="${Layout.paths.console}?id=${id}#request">${Layout.method(method)} <code>${path}</code></a>`
  const hasFailed = list !== undefined
  return html`<ol class="steps" id="steps">
<li>${request(sent)} ${delivery(sent)}<br>${
    postId === undefined
      ? html`The sandbox stored no post: ${sent.reason}.`
      : hasFailed
      ? html`The program sees a failure, and yet the sandbox stored the post: <code>${postId}</code>.`
      : html`The sandbox stored the post: <code>${postId}</code>.`
  }</li>
${
    hasFailed && html`<li>${request(list)} ${delivery(list)}<br>${
      isListed === true
        ? "The list has the post. A program that only sends again would have published it twice."
        : isListed === undefined
        ? "This response does not show whether the post exists, so the program still does not know. Sending the post again could publish it twice."
        : postId === undefined
        ? "The list does not have the post."
        : "The list does not have the post yet: this service variant lists posts late. A program that sends again now publishes it twice."
    }</li>`
  }
</ol>`
}

/** The section of the home page. */
export const view = ({ controlUrl, path, shown }: {
  readonly path: string
  readonly controlUrl: string
  readonly shown: Shown | undefined
}): Html =>
  html`<section id="demonstration" aria-labelledby="demonstration-title">
<h2 id="demonstration-title">Make the next post fail after it is stored</h2>
<p>A program sends a post and receives 503. Was the post published? See what the program receives, and what the service did.</p>
<div class="actions">${
    Form.button({ action: path, values: { do: "demonstrate" }, text: shown === undefined ? "Show what happens" : "Show it again" })
  }${Form.button({ action: path, values: { do: "arm" }, text: "Do it to my program's next post", kind: "quiet" })}</div>
${shown && stepsOf(shown)}
<details><summary>From a test or a terminal</summary>
<p>Set the environment variables below. Add the fault, then run your program. The client, the SDK and <code>plaza</code> look for the post first, so one post stays one post.</p>
${
    Layout.snippet(
      "demonstration-lines",
      "the lines of the demonstration",
      `curl -X POST ${Curl.quote(`${controlUrl}/faults`)} \\\n  -H 'content-type: application/json' \\\n  -d ${
        Curl.quote(JSON.stringify(fault))
      }\nplaza posts create --text ${Curl.quote(text)}`
    )
  }</details>
</section>`
