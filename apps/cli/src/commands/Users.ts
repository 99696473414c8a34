/** `plaza me` and `plaza users`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Profiles } from "@plaza-legacy/client"
import { ProfileId, Username } from "@plaza-legacy/domain/Ids"
import type { Profile } from "@plaza-legacy/domain/Resources"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as WrongBaseUrl from "../profiles/WrongBaseUrl.ts"
import { commonOptions, withClient } from "./CommonOptions.ts"

const print = (user: Profile) => Effect.flatMap(Output, (output) => output.one(user, [["id", user.id], ["username", user.username]]))

const id = Args.text({ name: "ID" }).pipe(Args.withDescription("The id of the user."))

export const me = Command.make("me", commonOptions, (flags) =>
  withClient(flags, Effect.gen(function*() {
    const profiles = yield* Profiles
    yield* print(yield* WrongBaseUrl.explained(profiles.me))
  }))).pipe(Command.withDescription(describe({
    summary: "Show the account of the API key.",
    examples: ["me", "me --profile shop --json"]
  })))

const get = Command.make("get", { id, ...commonOptions }, ({ id, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const profiles = yield* Profiles
    yield* print(yield* profiles.get(ProfileId.make(id)))
  }))).pipe(Command.withDescription(describe({ summary: "Show a user by id.", examples: ["users get 1002"] })))

const username = Args.text({ name: "USERNAME" }).pipe(Args.withDescription("The username, without @."))

const find = Command.make("find", { username, ...commonOptions }, ({ username, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const profiles = yield* Profiles
    yield* print(yield* profiles.find(Username.make(username)))
  }))).pipe(Command.withDescription(describe({ summary: "Show a user by username.", examples: ["users find corner-shop"] })))

const follow = Command.make("follow", { id, ...commonOptions }, ({ id, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const profiles = yield* Profiles
    yield* profiles.follow(ProfileId.make(id))
    const output = yield* Output
    yield* output.done({ userId: id, following: true }, `The account follows user ${id}.`)
  }))).pipe(Command.withDescription(describe({
    summary: "Follow a user.",
    details: ["Retried after a fault of the service: repeating it is safe."],
    examples: ["users follow 1002"]
  })))

export const users = Command.make("users").pipe(
  Command.withDescription(describe({ summary: "Show and follow users.", examples: ["users find corner-shop", "users follow 1002"] })),
  Command.withSubcommands([get, find, follow])
)
