/** Every failure has the exit code that the documentation lists. */
import { describe, expect, it } from "@effect/vitest"
import * as ClientError from "@plaza/client/ClientError"
import * as Errors from "@plaza/domain/Errors"
import { Config, ConfigProvider, DateTime, Duration, Effect, PlatformError } from "effect"
import * as CliError from "../src/CliError.ts"
import * as ExitCode from "../src/ExitCode.ts"

const message = "a sentence"
const lost = new ClientError.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message })

describe("an exit code", () => {
  it.each([
    ["VALIDATION_ERROR", 2],
    ["INVALID_JSON", 2],
    ["INVALID_API_KEY", 4],
    ["INSUFFICIENT_SCOPE", 4],
    ["DEVELOPER_ACCESS_REVOKED", 4],
    ["PROFILE_INCOMPLETE", 4],
    ["CHAT_NOT_ALLOWED", 4],
    ["CHAT_BLOCKED", 4],
    ["STORE_BLOCKED", 4],
    ["USER_UNAVAILABLE", 4],
    ["FORBIDDEN", 4],
    ["NOT_FOUND", 3],
    ["CONFLICT", 5],
    ["PAYLOAD_TOO_LARGE", 2],
    ["RATE_LIMITED", 6],
    ["INTERNAL_ERROR", 7]
  ] as const)("of %s is %i", (code, expected) => {
    expect(ExitCode.of(Errors.fromCode(code, { message }))).toBe(expected)
  })

  it.each([
    [200, "ServiceFault", 7],
    [404, "NotFound", 3],
    [429, "RateLimited", 6]
  ] as const)("of an unrecognized response with status %i and category %s is %i", (status, category, expected) => {
    expect(ExitCode.of(new Errors.UnrecognizedError({ status, category, message }))).toBe(expected)
  })

  it.each([
    [new ClientError.InvalidInput({ field: "text", message }), 2],
    [new ClientError.InvalidSettings({ setting: "baseUrl", message }), 2],
    [new ClientError.ConnectionFailed({ attempts: 1, reason: "ECONNREFUSED", message }), 7],
    [lost, 7],
    [new ClientError.AttemptTimeout({ attempts: 1, timeout: Duration.seconds(30), message }), 7],
    [new ClientError.UnreadableItem({ operation: "listPosts", page: 1, position: 1, cursor: undefined, nextCursor: null, message }), 7],
    [new ClientError.RateLimitWaitExceeded({ retryAt: DateTime.makeUnsafe(0), message }), 6],
    [new ClientError.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, message, body: "" }), 8],
    [new ClientError.OutcomeUnknown({ attempts: 1, operation: "createPost", message, cause: lost }), 8],
    [new ClientError.ClientClosed({ message }), 1],
    [new ClientError.CursorRepeated({ operation: "listPosts", message }), 1],
    [new ClientError.CursorRejected({ operation: "listPosts", message, cause: Errors.fromCode("VALIDATION_ERROR", { message }) }), 1]
  ] as const)("of the client's %s is %i", (failure, expected) => {
    expect(ExitCode.of(failure)).toBe(expected)
  })

  const file = (_tag: "NotFound" | "PermissionDenied" | "Busy") => PlatformError.systemError({ _tag, module: "FileSystem", method: "open" })
  const missing = Effect.runSync(Effect.flip(Config.String("A").parse(ConfigProvider.fromEnvRecord({}))))
  it.each([
    ["a usage error", new CliError.UsageError({ message }), 2],
    ["a missing variable", missing, 2],
    ["a missing file", file("NotFound"), 2],
    ["a forbidden file", file("PermissionDenied"), 2],
    ["a busy file", file("Busy"), 1],
    ["any other error", new Error(message), 1],
    ["an explained failure", new CliError.Explained({ cause: Errors.fromCode("CONFLICT", { message }), explanation: message }), 5],
    ["several failures", { _tag: "Several", failures: [Errors.fromCode("NOT_FOUND", { message }), lost] }, 7]
  ])("of %s is %i", (_, error, expected) => {
    expect(ExitCode.of(error)).toBe(expected)
  })

  it("of an application's own error comes from its lookup", () => {
    const lookup = (error: unknown) => error === message ? 7 : undefined
    expect(ExitCode.of(message, lookup)).toBe(7)
    expect(ExitCode.of(new CliError.Explained({ cause: message, explanation: message }), lookup)).toBe(7)
    expect(ExitCode.of(new CliError.UsageError({ message }), lookup)).toBe(2)
  })
})
