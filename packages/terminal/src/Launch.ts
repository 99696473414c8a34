/**
 * The very first of a bundled program: answers what needs none of it, and loads it otherwise. Knows how the bundle lies in its folder,
 * and nothing of what the program does.
 */
import { fstatSync, readFileSync, writeSync } from "node:fs"
import * as Path from "node:path"
import { loadProgram } from "./Loader.js"
import type { Manual } from "./Manual.js"
import * as Start from "./Start.js"

const stdout = 1

const codeOf = (error: unknown): unknown => typeof error === "object" && error !== null && "code" in error ? error.code : undefined

/** Writes at once. False where it can't be written, which the program knows how to tell. */
const written = (text: string): boolean => {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(stdout, rest))
    return true
  } catch (error) {
    // A reader who has enough, as head does, is no failure.
    if (codeOf(error) === "EPIPE") return true
    // A pipe that is full and doesn't block: what is left goes out when there is room.
    if (codeOf(error) === "EAGAIN") return process.stdout.write(rest), true
    return false
  }
}

// A page of help reads the same in a pipe, where there is no width to fit. A pipe is told from a terminal without node:tty, which takes
// as long to load as all the rest.
const width = (): number => fstatSync(stdout).isCharacterDevice() && process.stdout.isTTY ? process.stdout.columns : 0

/** Runs the program of a folder. */
export const launch = (folder: string, name: string): void => {
  const argv = process.argv.slice(2)
  if (Start.mayAnswer(argv)) {
    // Written beside this file when the bundle was made, from the types that it is read as.
    const manual = JSON.parse(readFileSync(Path.join(folder, "manual.json"), "utf8")) as Manual
    const answer = Start.answer(manual, argv, width)
    if (answer !== undefined && written(answer)) return
  }
  loadProgram(folder, name, "program.cjs")
}
