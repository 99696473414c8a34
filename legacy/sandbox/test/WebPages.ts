/**
 * Requests pages and submits forms without a browser.
 */
import type { HttpMethod } from "@effect/platform"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect } from "effect"
import { Transport } from "./support.ts"

/** Requests a page. */
export const request = (method: HttpMethod.HttpMethod, path: string, headers: Readonly<Record<string, string>> = {}, text?: string) =>
  Effect.gen(function*() {
    const { webUrl } = yield* Sandbox.Sandbox
    const { send } = yield* Transport
    return yield* send(method, new URL(path, webUrl).href, { key: null, headers, ...(text === undefined ? {} : { text }) })
  })

type Inputs = Readonly<Record<string, string>> | ReadonlyArray<readonly [string, string]>

/** Submits a form. */
export const submit = (path: string, inputs: Inputs, headers: Readonly<Record<string, string>> = {}) =>
  request("POST", path, { "content-type": "application/x-www-form-urlencoded", ...headers }, new URLSearchParams(
    Array.isArray(inputs) ? inputs : Object.entries(inputs)
  ).toString())

/** The cookie of a visitor who acts for an account, among other cookies. */
export const as = (accountId: string) => ({ cookie: `other=1; plaza_account=${encodeURIComponent(accountId)}` })
