/** `plaza me` and `plaza users`: profiles and follows. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import { ProfileId, Username } from "@plaza/domain/Ids"
import type { Profile } from "@plaza/domain/Resources"
import * as Effect from "effect/Effect"
import { connect } from "../Connection.js"
import { flags, withOutput } from "../Flags.js"

const show = (profile: Profile) =>
  Effect.flatMap(Output, (output) => output.one(profile, [["id", profile.id], ["username", profile.username]]))

const id = Args.text({ name: "ID" }).pipe(Args.withDescription("The id of the user."))

export const me = Command.make("me", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { profiles } = yield* connect(flags)
    yield* show(yield* profiles.me)
  }))).pipe(Command.withDescription(about("Show the account that owns the key.", "me")))

const get = Command.make("get", { id, ...flags }, ({ id, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { profiles } = yield* connect(flags)
    yield* show(yield* profiles.get(ProfileId.make(id)))
  }))).pipe(Command.withDescription(about("Show a user.", "users get 1002")))

const username = Args.text({ name: "USERNAME" }).pipe(Args.withDescription("The name of the user, without @."))

const find = Command.make("find", { username, ...flags }, ({ username, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { profiles } = yield* connect(flags)
    yield* show(yield* profiles.find(Username.make(username)))
  }))).pipe(Command.withDescription(about("Show a user by username.", "users find corner-shop")))

const follow = Command.make("follow", { id, ...flags }, ({ id, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { profiles } = yield* connect(flags)
    yield* profiles.follow(ProfileId.make(id))
    const output = yield* Output
    yield* output.done({ userId: id, following: true }, `The account follows user ${id}.`)
  }))).pipe(Command.withDescription(about("Follow a user. Sent again after a fault of the service.", "users follow 1002")))

export const users = Command.make("users").pipe(
  Command.withDescription(about("Find users and follow them.", "users find corner-shop")),
  Command.withSubcommands([get, find, follow])
)
