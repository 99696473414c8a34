/**
 * Kills a process that writes to a sandbox with a data file.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Kills the writer after this many acknowledged posts, and returns their number. */
export const whileWriting = (data: string, enough: number): Effect.Effect<number> =>
  Effect.callback<number>((resume) => {
    const child = spawn(process.execPath, [
      "--conditions=@plaza/source",
      fileURLToPath(new URL("fixtures/writer.ts", import.meta.url)),
      data
    ], { stdio: ["ignore", "pipe", "inherit"] })
    let written = 0
    child.stdout.on("data", (chunk: Buffer) => {
      written += chunk.toString().split("\n").length - 1
      if (written >= enough) {
        child.kill("SIGKILL")
      }
    })
    child.on("exit", () => resume(Effect.succeed(written)))
  })
