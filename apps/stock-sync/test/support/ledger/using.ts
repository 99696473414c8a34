/**
 * A ledger as tests use it: opened by its place as the program does, whatever database it lies in. Knows nothing of which one that is.
 */
import { NodeContext } from "@effect/platform-node"
import { ProductId } from "@plaza/domain"
import { Chunk, Effect, Layer, Option, type Scope, Stream } from "effect"
import type { Refusal } from "../../../src/Entry.js"
import { Ledger, type Terms } from "../../../src/Ledger.js"
import { layer, layerBeside, layerCopy, layerReader } from "../../../src/Ledger/Open.js"
import * as Plan from "../../../src/Plan.js"
import type { Row } from "@plaza/rows/Stock"
import { terms } from "../world.js"

/** A place for a ledger where none is yet, which vanishes with the test. */
export type Fresh = Effect.Effect<string, never, Scope.Scope>

export const id = (text: string) => ProductId.make(text)
let line = 1
export const row = (productId: string, stock: number, at?: number): Row => ({ _tag: "Good", line: at ?? ++line, productId: id(productId), stock })
export const bad = (productId: string | undefined, reason: string, at?: number): Row => ({ _tag: "Bad", line: at ?? ++line, productId, reason })
export const refusal = (value: number): Refusal => ({ tag: "NotFound", code: "NOT_FOUND", message: "no such product", value })

const openers = { layer, layerBeside, layerCopy, layerReader }

/** Uses the ledger as one process does, from opening to closing. */
export const using = <A, E>(place: string, use: (ledger: Ledger["Type"]) => Effect.Effect<A, E>, how: keyof typeof openers = "layer") =>
  Effect.flatMap(Ledger, use).pipe(Effect.provide(Layer.provide(openers[how](place), NodeContext.layer)))

/** A test with a place of its own. */
export const at = <A, E>(fresh: Fresh, test: (place: string) => Effect.Effect<A, E>) => Effect.scoped(Effect.flatMap(fresh, test))

export const receive = (ledger: Ledger["Type"], ...rows: ReadonlyArray<Row>) => ledger.receive(Stream.fromIterable(rows), terms)
export const receiveOn = (ledger: Ledger["Type"], further: Partial<Terms>, ...rows: ReadonlyArray<Row>) =>
  ledger.receive(Stream.fromIterable(rows), { ...terms, ...further })
export const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)
export const planOf = (ledger: Ledger["Type"]) => Effect.map(collect(ledger.unsettled), Plan.make)
export const settle = (ledger: Ledger["Type"], productId: string) =>
  Effect.flatMap(ledger.begin(id(productId)), (value) => ledger.confirm(id(productId), value))
export const stateOf = (ledger: Ledger["Type"], productId: string) =>
  Effect.map(collect(ledger.open), (open) => open.find((entry) => entry.productId === productId)?.state ?? "settled")

/** Hands out, where nothing rests and nothing is asserted again. */
export const take = (ledger: Ledger["Type"], resting: ReadonlyArray<string> = [], assertBefore?: number) =>
  Effect.map(ledger.take({ resting: resting.map(id), assertBefore: Option.fromNullable(assertBefore) }), Option.getOrUndefined)
