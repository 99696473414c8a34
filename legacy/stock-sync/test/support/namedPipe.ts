/** A named pipe that nobody writes: opening it never ends. */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"

const shell = (command: string, path: string) => Effect.sync(() => execFileSync("sh", ["-c", command, path]))

/** Creates a named pipe. The end of the scope ends the openings that wait, without which the process could not end. */
export const make = (path: string) => Effect.as(Effect.acquireRelease(shell("mkfifo \"$0\"", path), () => shell(": <> \"$0\"", path)), path)
