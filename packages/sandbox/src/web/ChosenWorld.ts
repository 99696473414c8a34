/** The world that the pages show. A cookie stores the visitor's choice, because the pages of all worlds share one address. */
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Envelope from "../http/Envelope.ts"
import * as Layout from "./Layout.ts"

const cookie = "plaza_world"

/** The world of a cookie header; undefined for the main sandbox, also if the world was removed. */
export const of = <W>({ find }: { readonly find: (id: string) => W | undefined }, header: string | undefined): W | undefined => {
  const [, id] = new RegExp(`(?:^|;\\s*)${cookie}=([a-z0-9-]+)`).exec(header ?? "") ?? []
  return id === undefined ? undefined : find(id)
}

/** Chooses a world, or with undefined the main sandbox, and redirects to its first page. */
export const choose = (id: string | undefined, page: Layout.Path = Layout.paths.home): HttpServerResponse =>
  Envelope.withHeader(Layout.seeOther(page), "set-cookie",
    `${cookie}=${id ?? ""}; Path=/; HttpOnly; SameSite=Strict${id === undefined ? "; Max-Age=0" : ""}`)
