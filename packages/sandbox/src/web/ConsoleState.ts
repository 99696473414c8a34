/**
 * The state browser of the console: accounts, posts, products, orders, conversations, keys and media. Changes stock, shipments and
 * profiles with the operations of the control API.
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import { ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import { type Account, Availability } from "../access/AccountsRepo.ts"
import * as Chat from "../areas/chat/ChatRepo.ts"
import { RequestLog, type RequestRecord } from "../http/RequestLog.ts"
import { Seeding } from "../seeding/Seeding.ts"
import { unknown } from "../Validation.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import * as Queries from "./StateQueries.ts"

const path = Layout.paths.state

const sentences = {
  stock: "Stock set.",
  ship: "Order shipped.",
  unship: "Order set back to not shipped.",
  profile: "Account changed."
}

/** What the page shows. */
interface Place {
  readonly kind: Queries.Kind
  /** A part of an id, a name or a text. */
  readonly text: string
  /** The first page is 0. */
  readonly page: number
}

const names: Readonly<Record<Queries.Kind, string>> = {
  accounts: "Accounts",
  posts: "Posts",
  products: "Products",
  orders: "Orders",
  conversations: "Conversations",
  keys: "Keys",
  media: "Media"
}

const isKind = (kind: string): kind is Queries.Kind => Object.hasOwn(names, kind)

const maxPage = 1_000_000

const readPlace = (values: URLSearchParams): Place => {
  const kind = values.get("of") ?? ""
  const page = Number(values.get("page") ?? 0)
  return {
    kind: isKind(kind) ? kind : "accounts",
    text: (values.get("text") ?? "").trim(),
    page: Number.isInteger(page) && page > 0 && page < maxPage ? page : 0
  }
}

const urlOf = ({ kind, page, text }: Place): string =>
  `${path}?${new URLSearchParams({ of: kind, ...(text === "" ? {} : { text }), ...(page === 0 ? {} : { page: String(page) }) }).toString()}`

/** The query of the list of requests that shows those of an object; undefined if the log has none. */
type RequestsOf = (id: string) => string | undefined

/** What the paths of the requests of an object begin with, before its id. Those of an account are by its keys. */
const prefixes: Readonly<Record<Exclude<Queries.Kind, "accounts">, string | undefined>> = {
  posts: "/posts/",
  products: "/store/products/",
  orders: "/store/orders/",
  conversations: "/conversations/",
  keys: undefined,
  media: undefined
}

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Requests of the objects of a kind. The list finds a path as it was sent. */
const requestsOf = (kind: Queries.Kind, records: ReadonlyArray<RequestRecord>): RequestsOf => {
  if (kind === "accounts") {
    const callers = new Set(records.map(({ accountId }) => accountId))
    return (id) => callers.has(id) ? new URLSearchParams({ account: id }).toString() : undefined
  }
  const prefix = prefixes[kind]
  const sent = new Map<string, string>()
  for (const { path } of records) {
    const [segment = "", ...rest] = prefix !== undefined && path.startsWith(prefix) ? path.slice(prefix.length).split("/") : []
    if (segment === "") continue
    // With the slash after it, so that p1 does not find p10, unless a request has none.
    const own = `${prefix}${segment}`
    const known = sent.get(decoded(segment))
    sent.set(decoded(segment), rest.length === 0 || known === own ? own : `${own}/`)
  }
  return (id) => {
    const text = sent.get(id)
    return text === undefined ? undefined : new URLSearchParams({ text }).toString()
  }
}

const requestsLink = (id: string, requests: RequestsOf): Html | false => {
  const query = requests(id)
  return query !== undefined &&
    html`<br><a class="small requests" href="${Layout.paths.console}?${query}" aria-label="Requests of ${id}">Requests</a>`
}

const hidden = ({ kind, page, text }: Place, action: string, id: string): Html =>
  html`<input type="hidden" name="do" value="${action}"><input type="hidden" name="id" value="${id}"><input type="hidden" name="of" value="${kind}"><input type="hidden" name="text" value="${text}"><input type="hidden" name="page" value="${page}">`

const form = (place: Place, action: string, id: string, content: Piece): Html =>
  html`<form method="post" action="${path}" class="inline">${hidden(place, action, id)}${content}</form>`

const accountRow = (
  place: Place,
  { access, availability, cover, id, name, photo, username }: Account,
  requests: RequestsOf
): Html =>
  html`<tr><th scope="row">${username}<br><code class="soft">${id}</code>${requestsLink(id, requests)}</th><td>${name}</td>
<td><a href="${Layout.paths.operator}?${
    new URLSearchParams({ start: username }).toString()
  }" aria-label="Developer access of ${username}: ${access}">${Layout.badge(access)}</a></td>
<td>${
    form(place, "profile", id,
      html`<span class="choice"><input type="checkbox" id="photo-${id}" name="photo" value="yes"${
        photo && html` checked`
      }><label for="photo-${id}">photo</label></span><span class="choice"><input type="checkbox" id="cover-${id}" name="cover" value="yes"${
        cover && html` checked`
      }><label for="cover-${id}">cover</label></span><select name="availability" aria-label="Availability of ${username}">${
        Availability.literals.map((value) => html`<option${value === availability && html` selected`}>${value}</option>`)
      }</select><button type="submit" class="quiet" aria-label="Save ${username}">Save</button>`)
  }</td></tr>`

const productRow = (place: Place, { account, id, name, stock }: Queries.Product, requests: RequestsOf): Html =>
  html`<tr><th scope="row"><code>${id}</code>${requestsLink(id, requests)}</th><td class="long">${name}</td><td>${account}</td>
<td>${stock === 0 && html`<span class="badge note">sold out</span>`}</td>
<td>${
    form(place, "stock", id,
      html`<input type="number" name="stock" value="${stock}" min="0" required aria-label="Stock of ${name}"><button type="submit" class="quiet" aria-label="Set the stock of ${name}">Set</button>`)
  }</td></tr>`

const orderRow = (place: Place, { account, carrier, id, shippedAt, trackingNumber }: Queries.Order, requests: RequestsOf): Html =>
  html`<tr><th scope="row"><code>${id}</code>${requestsLink(id, requests)}</th><td>${account}</td>
<td>${shippedAt === null ? html`<span class="badge note">not shipped</span>` : html`<span class="badge good">shipped</span>`}</td>
<td>${
    shippedAt !== null && html`${carrier} <code>${trackingNumber}</code><br><span class="soft small">${Layout.timestamp(shippedAt)}</span>`
  }</td>
<td>${
    shippedAt === null
      ? form(place, "ship", id,
        html`<input name="carrier" required placeholder="Carrier" aria-label="Carrier of order ${id}"><input name="trackingNumber" required placeholder="Tracking number" aria-label="Tracking number of order ${id}"><button type="submit" class="quiet" aria-label="Ship order ${id}">Ship</button>`)
      : form(place, "unship", id,
        html`<button type="submit" class="quiet" aria-label="Set order ${id} back to not shipped">Set back</button>`)
  }</td></tr>`

const postRow = ({ account, comments, createdAt, id, likes, mediaIds, text }: Queries.Post, requests: RequestsOf): Html =>
  html`<tr><th scope="row"><code>${id}</code>${
    requestsLink(id, requests)
  }</th><td>${account}</td><td class="long kept">${text}</td><td class="number">${mediaIds.length}</td><td class="number">${comments}</td><td class="number">${likes}</td><td class="nowrap">${
    Layout.timestamp(createdAt)
  }</td></tr>`

const keyRow = ({ account, id, name, scopes, state }: Queries.Key): Html =>
  html`<tr><th scope="row">${name}<br><code class="soft">${id}</code></th><td>${account}</td><td>${
    Layout.badge(state)
  }</td><td class="long">${scopes.join(", ")}</td></tr>`

const mediaRow = ({ account, contentType, id, name, size }: Queries.Media): Html =>
  html`<tr><th scope="row"><code>${id}</code></th><td>${account}</td><td class="long">${name}</td><td><code>${contentType}</code></td><td class="number">${
    size.toLocaleString("en")
  }</td></tr>`

const conversationRow = (
  { account, id, peer }: Queries.Conversation,
  messages: ReadonlyArray<Queries.Message>,
  requests: RequestsOf
): Html =>
  html`<tr><th scope="row"><code>${id}</code>${requestsLink(id, requests)}</th><td>${account}</td><td>${peer}</td><td class="long">${
    messages.length === 0 ?
      html`<span class="soft">No messages.</span>` :
      html`<details><summary aria-label="Messages of ${id}">${messages.length} ${
        messages.length === 1 ? "message" : "messages"
      }</summary><dl class="facts">${
        messages.toReversed().map((message) => html`<dt>${message.account}</dt><dd class="kept">${message.text}</dd>`)
      }</dl></details>`
  }</td></tr>`

/** The rows of a page, and whether another page follows. */
interface Rows {
  readonly table: Html
  readonly hasNext: boolean
}

const heads: Readonly<Record<Queries.Kind, ReadonlyArray<string>>> = {
  accounts: ["Account", "Name", "Access", "Profile and availability"],
  posts: ["Id", "Author", "Text", "Media", "Comments", "Likes", "Created"],
  products: ["Id", "Name", "Store", "State", "Stock"],
  orders: ["Id", "Store", "State", "Shipment", "Change"],
  conversations: ["Id", "Account", "With", "Messages"],
  keys: ["Key", "Account", "State", "Scopes"],
  media: ["Id", "Account", "File", "Type", "Bytes"]
}

export const routes = Effect.gen(function*() {
  const queries = yield* Queries.make
  const { operations } = yield* Seeding
  const log = yield* RequestLog

  const rowsOf = (place: Place): Rows => {
    const { kind, page, text } = place
    const wanted = text.toLowerCase()
    const offset = page * Queries.pageSize
    const requests = requestsOf(kind, log.all())
    const show = <A>(rows: ReadonlyArray<A>, row: (row: A, requests: RequestsOf) => Html): Rows => ({
      table: Layout.table(names[kind], heads[kind], rows.slice(0, Queries.pageSize).map((one) => row(one, requests)), {
        kind: "stack",
        empty: text === ""
          ? "Nothing yet."
          : html`Nothing contains this text. <a href="${urlOf({ kind, text: "", page: 0 })}">Show all</a>`
      }),
      hasNext: rows.length > Queries.pageSize
    })
    switch (kind) {
      case "accounts":
        return show(queries.accounts(wanted, offset), (row) => accountRow(place, row, requests))
      case "posts":
        return show(queries.posts(wanted, offset), postRow)
      case "products":
        return show(queries.products(wanted, offset), (row) => productRow(place, row, requests))
      case "orders":
        return show(queries.orders(wanted, offset), (row) => orderRow(place, row, requests))
      case "conversations":
        return show(queries.conversations(wanted, offset),
          (row) => conversationRow(row, queries.messages(Chat.pairOf(row.accountId, row.peerId)), requests))
      case "keys":
        return show(queries.keys(wanted, offset), keyRow)
      case "media":
        return show(queries.media(wanted, offset), mediaRow)
    }
  }

  const show = (place: Place, message: Html | undefined, status = 200) =>
    Effect.sync(() => {
      const { hasNext, table } = rowsOf(place)
      const { kind, page, text } = place
      return Layout.page({
        path,
        title: "State",
        status,
        message,
        body: html`<nav class="pills" aria-label="Tables"><ul>${
          queries.counts().map(([value, rows]) =>
            html`<li><a href="${urlOf({ kind: value, text: "", page: 0 })}"${value === kind && html` aria-current="page"`}>${
              names[value]
            } <span class="count">${rows.toLocaleString("en")}</span></a></li>`
          )
        }</ul></nav>
<form method="get" action="${path}" class="filters" role="search" aria-label="Filter">
<input type="hidden" name="of" value="${kind}">
<div class="field wide"><label for="text">${
          names[kind]
        } that contain</label><input id="text" name="text" type="search" value="${text}" placeholder="id, name, text"></div>
<div class="actions"><button type="submit" class="quiet">Filter</button>${
          text !== "" && html` <a href="${urlOf({ kind, text: "", page: 0 })}">Clear</a>`
        }</div>
</form>
<section aria-labelledby="rows"><h2 id="rows">${names[kind]}</h2>
${table}
${
          (page > 0 || hasNext) &&
          html`<p class="actions">${
            page > 0 && html`<a href="${urlOf({ ...place, page: page - 1 })}">Previous page</a>`
          } <span class="soft">Page ${page + 1}</span> ${
            hasNext && html`<a href="${urlOf({ ...place, page: page + 1 })}">Next page</a>`
          }</p>`
        }
</section>
<p class="soft small">The control API returns everything as one value: <code>GET /sandbox/state</code>.</p>`
      })
    })

  type Change = (form: URLSearchParams) => Effect.Effect<unknown, DocumentedError>

  const changing = (action: keyof typeof sentences, change: Change): Layout.Route["handle"] => ({ form }) => {
    const place = readPlace(form)
    return change(form).pipe(
      Effect.as(Layout.seeOther(urlOf(place), action)),
      Effect.catch((error) => show(place, Layout.problem(error.message), error.status))
    )
  }

  const idOf = (form: URLSearchParams): string => form.get("id") ?? ""

  const stock: Change = (form) =>
    Effect.gen(function*() {
      const id = idOf(form)
      const found = queries.product(id)
      if (found === undefined) {
        return yield* unknown("product", id)
      }
      const { accountId, name } = found
      const stock = form.get("stock") ?? ""
      return yield* operations.setProduct({ id, accountId, name, stock: stock === "" ? Number.NaN : Number(stock) })
    })

  const order =
    (shipmentOf: (form: URLSearchParams) => { readonly carrier: string; readonly trackingNumber: string } | undefined): Change => (form) =>
      Effect.gen(function*() {
        const id = idOf(form)
        const accountId = queries.order(id)
        if (accountId === undefined) {
          return yield* unknown("order", id)
        }
        const shipment = shipmentOf(form)
        return yield* operations.setOrder({ id, accountId, ...(shipment === undefined ? {} : { shipment }) })
      })

  const profile: Change = (form) => {
    const availability = Availability.literals.find((value) => value === form.get("availability"))
    return availability === undefined
      ? Effect.fail(new ValidationError({ message: `the availability must be one of ${Availability.literals.join(", ")}` }))
      : operations.setProfile(idOf(form), { photo: form.has("photo"), cover: form.has("cover"), availability })
  }

  return [
    { method: "GET", path, handle: (request) => show(readPlace(request.query), Layout.done(request, sentences)) },
    {
      method: "POST",
      path,
      handle: Layout.byAction({
        stock: changing("stock", stock),
        ship: changing("ship", order((form) => ({
          carrier: (form.get("carrier") ?? "").trim(),
          trackingNumber: (form.get("trackingNumber") ?? "").trim()
        }))),
        unship: changing("unship", order(() => undefined)),
        profile: changing("profile", profile)
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
