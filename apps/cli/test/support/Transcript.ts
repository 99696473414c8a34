/** Compares terminal sessions with the files in `test/transcripts`. `PLAZA_TRANSCRIPTS=write` rewrites them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"

const folder = fileURLToPath(new URL("../transcripts", import.meta.url))

/** The sandbox creates its data at times relative to the clock. */
const moment = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/g

/** Texts that differ between runs, by their name in a transcript. */
export type Differing = Readonly<Record<string, string | RegExp>>

/** A session as a transcript: the command line, the final screen and the status. */
export const written = (
  { code, columns, screen, typed }: {
    readonly typed: string
    readonly columns: number
    readonly screen: string
    readonly code: number | string
  },
  differing: Differing = {}
): string =>
  Object.entries(differing).reduce(
    (text, [name, value]) => text.replaceAll(typeof value === "string" ? value : new RegExp(value, "g"), `<${name}>`),
    `$ ${typed}    # in ${columns} columns\n${screen.replace(moment, "YYYY-MM-DDThh:mm:ssZ")}# status ${code}\n`
  )

/** Compares sessions with the transcript of a name. */
export const compare = (name: string, ...sessions: ReadonlyArray<string>): void => {
  const path = `${folder}/${name}.txt`
  const text = sessions.join("\n")
  if (process.env["PLAZA_TRANSCRIPTS"] === "write") {
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, text)
  }
  expect(text).toBe(readFileSync(path, "utf8"))
}
