/** Runs the built program in a pseudo-terminal, and reads its screen. */
import * as Pty from "@lydell/node-pty"
import xterm, { type IBufferLine } from "@xterm/headless"
import { Deferred, Effect, Option, Ref, type Scope, Stream, SubscriptionRef } from "effect"
import { builtProgram, noProfiles } from "./Plaza.ts"

export interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Width in characters (default: 80). */
  readonly columns?: number
  /** Another program than `plaza`: its file, and what stands before the words. */
  readonly program?: readonly [file: string, ...words: ReadonlyArray<string>]
}

export interface Ended {
  /** The status, or the number of the signal behind "signal ". */
  readonly code: number | string
  readonly screen: string
}

export interface Terminal {
  /** Presses keys: a return is `\r`, Ctrl-C `\u0003`. */
  readonly type: (keys: string) => Effect.Effect<void>
  /** Makes the window another width. */
  readonly resize: (columns: number) => Effect.Effect<void>
  /** The screen with everything that was scrolled out of it; a line's styles in braces. */
  readonly screen: Effect.Effect<string>
  /** Waits until the screen has what matches, and ends with the screen; dies with the screen if the program ends before. */
  readonly shows: (pattern: RegExp) => Effect.Effect<string>
  /** Everything that came from the program, byte by byte, control sequences included. */
  readonly raw: Effect.Effect<string>
  readonly ended: Effect.Effect<Ended>
}

const rows = 50
const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

const styleOf = (line: IBufferLine, column: number): string => {
  const cell = line.getCell(column)
  if (cell === undefined) return ""
  return [
    ...(cell.isBold() === 0 ? [] : ["bold"]),
    ...(cell.isDim() === 0 ? [] : ["dim"]),
    ...(cell.isUnderline() === 0 ? [] : ["underlined"]),
    ...(cell.isInverse() === 0 ? [] : ["inverse"]),
    ...(cell.isFgDefault() ? [] : [colours[cell.getFgColor() % 8] ?? "coloured"])
  ].join(" ")
}

/** A line as it is seen, with `{style}` where a style begins and `{}` where it ends. */
const textOf = (line: IBufferLine): string => {
  const end = line.translateToString(true).length
  let text = ""
  let style = ""
  for (let column = 0, length = 0; length < end; column++) {
    const chars = line.getCell(column)?.getChars() ?? ""
    // The second half of a wide character is a cell without any.
    if (line.getCell(column)?.getWidth() === 0) continue
    const next = styleOf(line, column)
    if (next !== style) text += `{${next}}`
    style = next
    text += chars === "" ? " " : chars
    length += Math.max(chars.length, 1)
  }
  return style === "" ? text.trimEnd() : `${text}{}`
}

const screenOf = (terminal: xterm.Terminal): string => {
  const buffer = terminal.buffer.active
  const lines = Array.from({ length: buffer.length }, (_, index) => {
    const line = buffer.getLine(index)
    return line === undefined ? "" : textOf(line)
  })
  return `${lines.join("\n").trimEnd()}\n`
}

/** Starts the program at a terminal of its own; it is killed when the scope closes before it has ended. */
export const open = (argv: ReadonlyArray<string>, options: Options = {}): Effect.Effect<Terminal, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [file, ...words] = options.program ?? [process.execPath, builtProgram()]
    const columns = options.columns ?? 80
    const screens = yield* SubscriptionRef.make("\n")
    const raw = yield* Ref.make("")
    const ended = yield* Deferred.make<Ended>()
    const terminal = yield* Effect.acquireRelease(
      Effect.sync(() => new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })),
      (terminal) => Effect.sync(() => terminal.dispose())
    )
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Pty.spawn(file, [...words, ...argv], {
          name: "xterm-256color",
          cols: columns,
          rows,
          ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
          env: { PATH: process.env["PATH"], TERM: "xterm-256color", XDG_CONFIG_HOME: noProfiles, ...options.env }
        })
      ),
      (child) => Effect.flatMap(Deferred.isDone(ended), (done) => done ? Effect.void : Effect.sync(() => child.kill("SIGKILL")))
    )
    const { runSync: run } = Effect
    const draw = (text: string, then: () => void) => terminal.write(text, then)
    child.onData((text) => {
      run(Ref.update(raw, (before) => before + text))
      draw(text, () => run(SubscriptionRef.set(screens, screenOf(terminal))))
    })
    child.onExit(({ exitCode, signal }) =>
      // Behind everything that is still to be drawn.
      draw("", () => {
        const screen = screenOf(terminal)
        run(SubscriptionRef.set(screens, screen))
        run(Deferred.succeed(ended, { code: signal === undefined || signal === 0 ? exitCode : `signal ${signal}`, screen }))
      })
    )
    const shows = (pattern: RegExp): Effect.Effect<string> =>
      Effect.raceFirst(
        Stream.runHead(Stream.filter(SubscriptionRef.changes(screens), (screen) => pattern.test(screen))),
        Effect.map(Deferred.await(ended), ({ screen }) => pattern.test(screen) ? Option.some(screen) : Option.none())
      ).pipe(
        Effect.flatMap(Option.match({
          onNone: () =>
            Effect.flatMap(Deferred.await(ended), ({ screen }) =>
              Effect.die(new Error(`the program ended before the screen had ${pattern}:\n${screen}`))),
          onSome: Effect.succeed
        }))
      )
    return {
      type: (keys) => Effect.sync(() => child.write(keys)),
      resize: (columns) =>
        Effect.sync(() => {
          terminal.resize(columns, rows)
          child.resize(columns, rows)
        }),
      screen: SubscriptionRef.get(screens),
      shows,
      raw: Ref.get(raw),
      ended: Deferred.await(ended)
    }
  })

/** Runs the program at a terminal to its end. */
export const run = (argv: ReadonlyArray<string>, options?: Options): Effect.Effect<Ended> =>
  Effect.scoped(Effect.flatMap(open(argv, options), ({ ended }) => ended))
