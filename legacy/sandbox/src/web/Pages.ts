/**
 * The web pages. They are rendered on the server and work without scripts. By default they accept requests only from
 * this machine and forms only from their own origin, because a visitor can act for any account.
 *
 * @since 0.1.0
 */
import { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { DocumentedError } from "@plaza-legacy/domain/Errors"
import { Forbidden, InternalError } from "@plaza-legacy/domain/Errors"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AccessRequests } from "../access/AccessRequests.ts"
import type { AccountsRepo } from "../access/AccountsRepo.ts"
import type { Keys } from "../access/Keys.ts"
import type { KeysRepo } from "../access/KeysRepo.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as DefectLog from "../http/DefectLog.ts"
import * as Envelope from "../http/Envelope.ts"
import type { Faults } from "../http/Faults.ts"
import { hasOwnOrigin, type HostPolicy, isSameOrigin } from "../http/HostPolicy.ts"
import type { InterfaceApp } from "../http/InterfaceApp.ts"
import type { RequestLog } from "../http/RequestLog.ts"
import type { ServerRequest } from "../http/ServerRequest.ts"
import type { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { Seeding } from "../seeding/Seeding.ts"
import type { Snapshots } from "../storage/Snapshots.ts"
import type { Sql } from "../storage/Sql.ts"
import type { VirtualClock } from "../VirtualClock.ts"
import * as Behaviour from "./Behaviour.ts"
import * as Developers from "./Developers.ts"
import * as FaultsPage from "./FaultsPage.ts"
import * as Form from "./Form.ts"
import * as Home from "./Home.ts"
import { html } from "./Html.ts"
import * as Operator from "./Operator.ts"
import * as Page from "./Page.ts"
import * as Reference from "./Reference.ts"
import * as Requests from "./Requests.ts"
import { icon, script } from "./Script.ts"
import * as SignIn from "./SignIn.ts"
import * as SnapshotsPage from "./SnapshotsPage.ts"
import * as State from "./State.ts"
import { style } from "./Style.ts"

/** @since 0.1.0 @category models */
export interface Pages {
  readonly respond: (
    request: ServerRequest,
    path: string,
    query: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, RequestError>
}

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

const file = (path: string, body: string, contentType: string): Page.Route => ({
  method: "GET",
  path,
  handle: () => Effect.succeed(Envelope.raw(200, body, contentType))
})

const files = [
  file(Page.paths.style, style, "text/css; charset=utf-8"),
  file(Page.paths.script, script, "text/javascript; charset=utf-8"),
  file(Page.paths.icon, icon, "image/svg+xml"),
  // Browsers ask for it on pages without a link to an icon, such as a JSON response.
  file(Page.paths.favicon, icon, "image/svg+xml")
]

const titles: Readonly<Record<number, string>> = {
  400: "Invalid input",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Too large"
}

const failure = (
  path: string,
  { message, status }: { readonly message: string; readonly status: number }
): HttpServerResponse.HttpServerResponse =>
  Page.page({
    path,
    title: titles[status] ?? "Something went wrong",
    status,
    message: Page.problem(message),
    body: html`<p><a href="${
      path === Page.paths.request ? Page.paths.console : path
    }">Back to the page</a> · <a href="${Page.paths.home}">Home</a></p>`
  })

/** Renders every failure as a page, except a closed connection. Logs defects. */
const orPage = (
  path: string,
  effect: Effect.Effect<HttpServerResponse.HttpServerResponse, DocumentedError | RequestError>
): Effect.Effect<HttpServerResponse.HttpServerResponse, RequestError> =>
  effect.pipe(
    Effect.catchAll((error) => error instanceof RequestError ? Effect.fail(error) : Effect.succeed(failure(path, error))),
    Effect.catchAllDefect((defect) =>
      Effect.as(
        DefectLog.log(`page ${path}`, Cause.die(defect)),
        failure(path, new InternalError({ message: "The sandbox failed. Its log has the reason." }))
      )
    )
  )

/**
 * The services that pages use.
 *
 * @since 0.1.0
 * @category models
 */
export type Services =
  | AccessRequests
  | AccountsRepo
  | CurrentAssumptions
  | CurrentLatitude
  | Faults
  | InterfaceApp
  | Keys
  | KeysRepo
  | RequestLog
  | Seeding
  | Snapshots
  | Sql
  | VirtualClock

/** @since 0.1.0 @category constructors */
export const make = (
  access: "loopback" | "anyone",
  local: HostPolicy,
  addresses: { readonly interface: string; readonly control: string }
): Effect.Effect<Pages, never, Services> =>
  Effect.gen(function*() {
    const { maxBodyBytes } = yield* CurrentAssumptions
    const routes: ReadonlyArray<Page.Route> = [
      ...(yield* Home.routes(addresses)),
      ...(yield* SignIn.routes),
      ...(yield* Developers.routes),
      ...(yield* Operator.routes),
      ...(yield* Requests.routes),
      ...(yield* State.routes),
      ...(yield* FaultsPage.routes),
      ...(yield* Behaviour.routes),
      ...(yield* SnapshotsPage.routes),
      ...(yield* Reference.routes),
      ...files
    ]
    const owned = new Set(routes.map(({ path }) => path))

    const decide = (request: ServerRequest, path: string, query: string) =>
      Effect.gen(function*() {
        if (access === "loopback" && !(local.isLocal(request) && hasOwnOrigin(request))) {
          return yield* new Forbidden({ message: "The pages of a sandbox accept only requests from the machine that it runs on." })
        }
        // The server omits the body of a response to HEAD.
        const method = request.method === "HEAD" ? "GET" : request.method
        const route = routes.find((known) => known.path === path && known.method === method)
        if (route === undefined && !owned.has(path)) {
          return unknown(path)
        }
        if (route === undefined) {
          const allowed = routes.flatMap((known) => known.path === path ? [known.method] : []).join(", ")
          return Envelope.withHeader(failure(path, { status: 405, message: `This page accepts only ${allowed}.` }), "allow", allowed)
        }
        if (route.method === "POST" && !isSameOrigin(request, { addressBar: false })) {
          return yield* new Forbidden({ message: "A page of another origin submitted this form." })
        }
        const done = Page.doneFromCookie(request.headers["cookie"])
        const response = yield* route.handle({
          query: new URLSearchParams(query),
          form: route.method === "POST" ? yield* Form.read(request, maxBodyBytes) : new URLSearchParams(),
          accountId: SignIn.accountFromCookie(request.headers["cookie"]),
          done,
          origin: `http://${request.headers["host"] ?? "localhost"}`
        })
        return done === "" || method !== "GET" ? response : Page.forgetDone(response)
      })

    const known = [...owned].filter((path) => path !== Page.paths.home)
    /** Another page that a wrong path may mean. */
    const meant = (path: string) => known.find((page) => page === path.replace(/\/+$/, "").toLowerCase())
    const unknown = (path: string) => {
      const other = meant(path)
      return Page.page({
        path,
        title: "Page not found",
        status: 404,
        body: html`<section>
<p>There is no page at <code>${path}</code>.</p>
${other !== undefined && html`<p>Did you mean <a href="${other}">${other}</a>?</p>`}
<p>The interface is at <code>${addresses.interface}</code>, and the control API at <code>${addresses.control}</code>.</p>
<p><a href="${Page.paths.home}">Go to the home page</a></p>
</section>`
      })
    }

    return {
      respond: (request, path, query) => Effect.map(orPage(path, decide(request, path, query)), HttpServerResponse.setHeaders(headers))
    }
  })
