/**
 * The order of sending, and what isn't sent, as laws over any ledger.
 */
import { expect, it } from "@effect/vitest"
import { ProductId } from "@plaza/domain"
import { FastCheck } from "effect"
import type { Entry, EntryState } from "../src/Entry.js"
import * as Plan from "../src/Plan.js"

const stock = FastCheck.oneof(FastCheck.constant(0), FastCheck.nat({ max: 5 }))
const states: ReadonlyArray<EntryState> = ["settled", "pending", "sending", "doubtful", "quarantined"]

/** Entries as a ledger can hold them: what is settled was confirmed, what is doubtful was sent, what is quarantined was refused. */
const entry: FastCheck.Arbitrary<Entry> = FastCheck.record({
  id: FastCheck.string({ minLength: 1, maxLength: 6 }),
  state: FastCheck.constantFrom(...states),
  wanted: stock,
  confirmed: FastCheck.option(stock, { nil: undefined }),
  sent: stock
}).map(({ confirmed, id, sent, state, wanted }) => ({
  productId: ProductId.make(id),
  wanted,
  confirmed: state === "settled" ? wanted : confirmed,
  confirmedAt: undefined,
  sent: state === "pending" ? undefined : sent,
  attempts: 0,
  state,
  refusal: state === "quarantined" ? { tag: "NotFound", code: "NOT_FOUND", message: "", value: wanted } : undefined,
  line: 2,
  updatedAt: 0
}))
const entries = FastCheck.uniqueArray(entry, { selector: (one) => one.productId, maxLength: 40 })

const positions = (steps: ReadonlyArray<Plan.Step>, ...reasons: ReadonlyArray<Plan.Reason>) =>
  steps.flatMap((step, index) => (reasons.includes(step.reason) ? [index] : []))

it.prop("what is sold out and not confirmed so goes before everything else", [entries], ([all]) => {
  const steps = Plan.make(all)
  const urgent = all.filter((one) => one.state !== "quarantined" && one.wanted === 0 && one.confirmed !== 0).map((one) => one.productId)
  const first = positions(steps, "soldOut")
  expect(first).toEqual(first.map((_, index) => index))
  for (const id of urgent) expect(steps.find((step) => step.productId === id)?.reason).toBe("soldOut")
})

it.prop("then what falls, then what is back in stock, then the rest, and doubtful values that are still wanted last", [entries], ([all]) => {
  const steps = Plan.make(all)
  const groups = [["soldOut"], ["falling"], ["backInStock"], ["rising", "unconfirmed", "asserted"], ["doubtful"]] as const
  const order = groups.flatMap((group) => positions(steps, ...group))
  expect(order).toEqual(steps.map((_, index) => index))
})

it.prop("what is settled as it is wanted is never sent", [entries], ([all]) => {
  const sent = new Set(Plan.make(all).map((step) => step.productId))
  for (const one of all) if (one.state === "settled") expect(sent.has(one.productId)).toBe(false)
})

it.prop("what is doubtful, or was cut off while being sent, is always sent again, even if it equals what was confirmed", [entries], ([all]) => {
  const sent = new Set(Plan.make(all).map((step) => step.productId))
  for (const one of all) if (one.state === "doubtful" || one.state === "sending") expect(sent.has(one.productId)).toBe(true)
})

it.prop("what was refused stays unsent until another value is wanted", [entries], ([all]) => {
  const quarantined = all.filter((one) => one.state === "quarantined")
  expect(Plan.make(quarantined)).toEqual([])
  const changed = quarantined.map((one) => ({ ...one, wanted: one.wanted + 1 }))
  expect(Plan.make(changed)).toHaveLength(changed.length)
})

it.prop("each product is sent once, with what is wanted, and the order of the ledger doesn't matter", [entries], ([all]) => {
  const steps = Plan.make(all)
  expect(new Set(steps.map((step) => step.productId)).size).toBe(steps.length)
  for (const step of steps) expect(all.find((one) => one.productId === step.productId)?.wanted).toBe(step.to)
  expect(Plan.make([...all].reverse())).toEqual(steps)
})

const plain = { confirmedAt: undefined, attempts: 0, refusal: undefined, line: 2, updatedAt: 0 } as const
const reasonFor = (one: Omit<Entry, keyof typeof plain | "productId">) => {
  const decision = Plan.decide({ ...plain, productId: ProductId.make("A"), ...one })
  return decision._tag === "Send" ? decision.step.reason : decision._tag
}

it("a doubtful larger value makes a smaller one that is wanted urgent", () => {
  expect(reasonFor({ state: "doubtful", wanted: 0, confirmed: 0, sent: 4 })).toBe("soldOut")
  expect(reasonFor({ state: "doubtful", wanted: 3, confirmed: 2, sent: 9 })).toBe("falling")
  expect(reasonFor({ state: "doubtful", wanted: 3, confirmed: 3, sent: 0 })).toBe("backInStock")
  expect(reasonFor({ state: "doubtful", wanted: 3, confirmed: 3, sent: 2 })).toBe("asserted")
  expect(reasonFor({ state: "doubtful", wanted: 3, confirmed: 9, sent: 3 })).toBe("doubtful")
})
