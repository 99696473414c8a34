/**
 * The web pages. They are rendered on the server and work without scripts. By default they accept requests only from
 * this machine and forms only from their own origin, because a visitor can act for any account.
 */
import { type DocumentedError, Forbidden, InternalError } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerError from "effect/http/HttpServerError"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Control from "../control/Control.ts"
import * as Envelope from "../http/Envelope.ts"
import * as Failures from "../http/Failures.ts"
import { hasOwnOrigin, type HostPolicy, isSameOrigin } from "../http/HostPolicy.ts"
import { type App, routable } from "../http/Interface.ts"
import * as InterfaceApi from "../InterfaceApi.ts"
import { mainWorld, Worlds } from "../worlds/Worlds.ts"
import * as ChosenWorld from "./ChosenWorld.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import { areaPaths } from "./ReferencePages.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The path prefix of the pages. */
export const basePath = Layout.paths.home

export const addresses = { interface: InterfaceApi.basePath, control: Control.basePath }

/** Only the sandbox's own files load and run, no other page can frame it, and no cache stores a page with a key. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff"
}

const titles: Readonly<Record<number, string>> = {
  400: "Invalid input",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Too large"
}

const failure = (path: string, { message, status }: { readonly message: string; readonly status: number }): Response =>
  Layout.page({
    path,
    title: titles[status] ?? "Something went wrong",
    status,
    message: Layout.problem(message),
    body: html`<p><a href="${
      path === Layout.paths.request ? Layout.paths.console : path
    }">Back to the page</a> · <a href="${Layout.paths.home}">Home</a></p>`
  })

/** Renders every failure as a page, except a closed connection. Logs defects. */
export const orPage = <R>(
  path: string,
  effect: Effect.Effect<Response, DocumentedError | HttpServerError.HttpServerError, R>
): Effect.Effect<Response, HttpServerError.HttpServerError, R> =>
  effect.pipe(
    Effect.catch((error) => HttpServerError.isHttpServerError(error) ? Effect.fail(error) : Effect.succeed(failure(path, error))),
    Effect.catchDefect((defect) =>
      Effect.as(
        Failures.logDefect(`page ${path}`, Cause.die(defect)),
        failure(path, new InternalError({ message: "The sandbox failed. Its log has the reason." }))
      )
    )
  )

const owned: ReadonlySet<string> = new Set([...Object.values(Layout.paths), ...areaPaths])
const pages = [...owned].filter((path) => path !== Layout.paths.home)

const unknown = (path: string): Response => {
  // Another page that a wrong path may mean.
  const other = pages.find((page) => page === path.replace(/\/+$/, "").toLowerCase())
  return Layout.page({
    path,
    title: "Page not found",
    status: 404,
    body: html`<section>
<p>There is no page at <code>${path}</code>.</p>
${other !== undefined && html`<p>Did you mean <a href="${other}">${other}</a>?</p>`}
<p>The interface is at <code>${addresses.interface}</code>, and the control API at <code>${addresses.control}</code>.</p>
<p><a href="${Layout.paths.home}">Go to the home page</a></p>
</section>`
  })
}

/** Adds the world to the header of a page, if there are several. */
const withWorld = (response: Response, name: string | undefined): Response => {
  const mark = Layout.worldMark.toString()
  const text = Envelope.textOf(response)
  if (!text.includes(mark)) return response
  const shown = name === undefined ? "" : html`<a id="world" href="${Layout.paths.worlds}">World: ${name}</a>`.toString()
  return HttpServerResponse.setBody(response, HttpBody.text(text.replace(mark, () => shown), "text/html; charset=utf-8"))
}

export class Web extends Context.Service<Web, {
  /** Whether a path belongs to a page, or a person opened one that is neither a page nor one of the interface. */
  readonly owns: (request: HttpServerRequest, path: string) => boolean
  readonly respond: (
    app: App,
    target: { readonly path: string; readonly query: string }
  ) => Effect.Effect<Response, HttpServerError.HttpServerError, HttpServerRequest | Scope.Scope>
}>()("@plaza/sandbox/Web") {
  static readonly layer = (access: "loopback" | "anyone", local: HostPolicy) => {
    const respond = Effect.fnUntraced(function*(app: App, { path, query }: { readonly path: string; readonly query: string }) {
      const request = yield* HttpServerRequest
      if (access === "loopback" && !(local.isLocal(request) && hasOwnOrigin(request))) {
        return yield* new Forbidden({ message: "The pages of a sandbox accept only requests from the machine that it runs on." })
      }
      if (!owned.has(path)) {
        return unknown(path)
      }
      const method = request.method
      if (method === "POST" && !isSameOrigin(request, { addressBar: false }) && Layout.acceptsForms(path)) {
        return yield* new Forbidden({ message: "A page of another origin submitted this form." })
      }
      const allowed = Layout.acceptsForms(path) ? ["GET", "POST"] : ["GET"]
      return yield* allowed.includes(method === "HEAD" ? "GET" : method)
        ? Effect.provideService(app, HttpServerRequest, routable(request, path, query)).pipe(
          Effect.catch((error) => HttpServerError.isHttpServerError(error) ? Effect.fail(error) : Effect.die(error))
        )
        : Effect.succeed(Envelope.withHeader(
          failure(path, { status: 405, message: `This page accepts only ${allowed.join(", ")}.` }),
          "allow",
          allowed.join(", ")
        ))
    })
    return Layer.effect(Web, Effect.gen(function*() {
      const worlds = yield* Worlds
      const name = (request: HttpServerRequest) =>
        ChosenWorld.of(worlds, request.headers["cookie"])?.id ?? (worlds.list().length > 0 ? mainWorld : undefined)
      return {
        owns: ({ headers, method }, path) =>
          owned.has(path) ||
          (method === "GET" || method === "HEAD") && /(?:^|,)\s*text\/html\b/i.test(headers["accept"] ?? "") &&
            path !== addresses.interface && !path.startsWith(`${addresses.interface}/`),
        respond: (app, target) =>
          Effect.zipWith(orPage(target.path, respond(app, target)), HttpServerRequest, (response, request) =>
            HttpServerResponse.setHeaders(withWorld(response, name(request)), headers))
      }
    }))
  }
}
