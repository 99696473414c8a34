import { expect, expectTypeOf, it } from "@effect/vitest"
import { ClientError, Plaza, Posts } from "@plaza-legacy/client"
import * as Domain from "@plaza-legacy/domain"
import { Effect, Schedule, type Stream } from "effect"
import type { FailureOf, OperationName } from "../src/internal/contract/Contract.ts"
import type { ResultOf } from "../src/internal/contract/Operations.ts"
import * as Fake from "./support/FakeService.ts"

type EveryCall =
  | Domain.InvalidApiKey
  | Domain.InsufficientScope
  | Domain.DeveloperAccessRevoked
  | Domain.Forbidden
  | Domain.RateLimited
  | Domain.InternalError
  | Domain.UnrecognizedError
  | ClientError.CallFailure

it("every operation has the failures that the contract lists, and OutcomeUnknown only for writes", () => {
  expectTypeOf<FailureOf<"getMe">>().toEqualTypeOf<EveryCall>()
  expectTypeOf<FailureOf<"listPosts">>().toEqualTypeOf<EveryCall | Domain.ValidationError>()
  expectTypeOf<FailureOf<"shipOrder">>().toEqualTypeOf<
    | EveryCall
    | ClientError.OutcomeUnknown
    | Domain.ValidationError
    | Domain.InvalidJson
    | Domain.PayloadTooLarge
    | Domain.ProfileIncomplete
    | Domain.NotFound
    | Domain.StoreBlocked
    | Domain.Conflict
  >()
  expectTypeOf<FailureOf<OperationName>>().toExtend<ClientError.Failure>()
  expectTypeOf<ReturnType<Posts["Type"]["create"]>>().toEqualTypeOf<
    Effect.Effect<Domain.Post, FailureOf<"createPost">>
  >()
})

it("every operation has the result of the contract, without void", () => {
  expectTypeOf<ResultOf<"setStock">>().toEqualTypeOf<Domain.Product>()
  expectTypeOf<ResultOf<"sendMessage">>().toEqualTypeOf<Domain.Message>()
})

it("options of calls keep the types of Effects and Streams, in a pipe and as functions", () => {
  const once = Plaza.withRetry(Schedule.stop)
  expectTypeOf(once<Effect.Effect<1, "e", "r">>).returns.toEqualTypeOf<Effect.Effect<1, "e", "r">>()
  expectTypeOf(Plaza.withMaxWait(1)<Stream.Stream<1, "e", "r">>).returns.toEqualTypeOf<Stream.Stream<1, "e", "r">>()
  const generic = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => effect.pipe(Plaza.withTimeout("1 second"))
  expectTypeOf(generic(Effect.succeed(1 as const))).toEqualTypeOf<Effect.Effect<1>>()
})

class Own {
  readonly _tag = "Own"
}

const end = (failure: Domain.NotFound | Domain.RateLimited | Domain.UnrecognizedError | Own): Effect.Effect<never, typeof failure> =>
  Effect.fail(failure)

it("isServiceError narrows any union to the service's errors in it, and unknown to all of them", () => {
  const failures: ReadonlyArray<Domain.NotFound | Own | string> = ["text", new Own(), new Domain.NotFound({ message: "no" })]
  const found = failures.filter((failure) => ClientError.isServiceError(failure))
  expectTypeOf(found).toEqualTypeOf<Array<Domain.NotFound>>()
  expect(found).toHaveLength(1)
  const narrow = (value: unknown) => ClientError.isServiceError(value) ? value.category : undefined
  expectTypeOf(narrow).returns.toEqualTypeOf<Domain.Category | undefined>()
  expect([null, undefined, 1, {}, { category: "NotFound" }].map(narrow)).toEqual([undefined, undefined, undefined, undefined, undefined])
})

it("catchCategory removes the errors of its categories from the type and keeps the others", () => {
  const retry = end(new Own()).pipe(ClientError.catchCategory("RateLimited", (failure) => {
    expectTypeOf(failure).toEqualTypeOf<Domain.RateLimited | Domain.UnrecognizedError>()
    return Effect.succeed("later" as const)
  }))
  expectTypeOf(retry).toEqualTypeOf<Effect.Effect<"later", Domain.NotFound | Domain.UnrecognizedError | Own>>()
  const both = ClientError.catchCategory(end(new Own()), ["RateLimited", "NotFound"], (failure) => Effect.succeed(failure.status))
  expectTypeOf(both).toEqualTypeOf<Effect.Effect<number, Domain.UnrecognizedError | Own>>()
})

it("catchCategory handles the service's errors of its categories, unknown codes included, and no others", () => {
  const handled = (failure: Parameters<typeof end>[0]) =>
    Effect.runSync(end(failure).pipe(
      ClientError.catchCategory(["RateLimited", "Conflict"], ({ code }) => Effect.succeed(`caught ${code ?? ""}`)),
      Effect.catchAll(({ _tag }) => Effect.succeed(`left ${_tag}`))
    ))
  const unrecognized = (status: number, category: Domain.Category) =>
    new Domain.UnrecognizedError({ status, category, code: "NEW", message: "new" })
  expect(handled(new Domain.RateLimited({ message: "slow" }))).toBe("caught RATE_LIMITED")
  expect(handled(unrecognized(409, "Conflict"))).toBe("caught NEW")
  expect(handled(unrecognized(404, "NotFound"))).toBe("left UnrecognizedError")
  expect(handled(new Domain.NotFound({ message: "no" }))).toBe("left NotFound")
  expect(handled(new Own())).toBe("left Own")
})

it.effect("an absent field and undefined give the same request", () =>
  Effect.gen(function*() {
    expectTypeOf<Parameters<Posts["Type"]["create"]>[0]>().toExtend<
      { readonly text?: string | undefined; readonly mediaIds?: ReadonlyArray<Domain.MediaId> | undefined }
    >()
    const mediaIds: ReadonlyArray<Domain.MediaId> | undefined = undefined
    const { calls, layer } = Fake.scripted([Fake.json({ id: "1" })])
    const posts: ReadonlyArray<Domain.NewPost> = [{ text: "a", mediaIds }, { text: "a" }, {
      text: undefined,
      mediaIds: [Domain.MediaId.make("m")]
    }]
    yield* Effect.forEach(posts, (post) => Effect.flatMap(Posts, ({ create }) => create(post))).pipe(Effect.provide(layer))
    expect(calls.map(({ body }) => body)).toEqual([`{"text":"a"}`, `{"text":"a"}`, `{"mediaIds":["m"]}`])
  }))
