/**
 * Entry point of a bundled program: answers help, version and completions from the manual, and loads the program for
 * everything else.
 */
import { fstatSync, readFileSync, writeSync } from "node:fs"
import * as Path from "node:path"
import type { Manual } from "../help/Manual.ts"
import { loadProgram } from "./Loader.ts"
import * as Start from "./Start.ts"

const stdout = 1

const codeOf = (error: unknown): unknown => typeof error === "object" && error !== null && "code" in error ? error.code : undefined

/** Writes synchronously. Returns false if the write fails; the program then reports the failure. */
const written = (text: string): boolean => {
  let rest = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(stdout, rest))
    return true
  } catch (error) {
    // A reader that closes the pipe, as head does, is no failure.
    if (codeOf(error) === "EPIPE") return true
    // A full non-blocking pipe: the rest is written when there is room.
    if (codeOf(error) === "EAGAIN") return process.stdout.write(rest), true
    return false
  }
}

// A pipe has no width. isCharacterDevice detects a pipe without node:tty, which takes as long to load as all the rest.
const width = (): number => fstatSync(stdout).isCharacterDevice() && process.stdout.isTTY ? process.stdout.columns : 0

/** Runs the bundled program in a folder. */
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
