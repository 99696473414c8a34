/**
 * Builds the file system of an image by the steps of its Dockerfile and runs it like a container engine: process 1 of its own PID
 * namespace, an unprivileged user, no capabilities, a read-only root. It requires root on Linux. It differs from an engine in this:
 * the base image is a folder with Node and the few programs that the steps call, the build stage runs on this machine, the network is
 * that of this machine, and there is no seccomp filter.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync
} from "node:fs"
import * as Path from "node:path"
import * as BuildContext from "./BuildContext.ts"
import type { Image, Settings, Stage } from "./Dockerfile.ts"

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

export interface BuildOptions {
  /** The root of the repository. */
  readonly context: string
  /** An empty folder for the stages. */
  readonly folder: string
  /** The Node of the base image. */
  readonly node: string
}

export interface Built {
  /** The root file system. */
  readonly root: string
  readonly settings: Settings
}

// Libraries of glibc that the name service loads at run time, so that they are not listed.
const glibc = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"]

/** Copies a program with its shared libraries, so that it runs below another root. */
const copyProgram = (program: string, root: string, target: string): void => {
  const listed = spawnSync("ldd", [program], { encoding: "utf8" }).stdout.split("\n")
    .flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  const folder = Path.dirname(listed.find((file) => file.endsWith("/libc.so.6")) ?? "/lib/libc.so.6")
  const files = [...listed, ...glibc.map((name) => Path.join(folder, name)).filter((file) => existsSync(file))]
  for (const [from, to] of [[realpathSync(program), target] as const, ...files.map((file) => [file, file] as const)]) {
    mkdirSync(Path.join(root, Path.dirname(to)), { recursive: true })
    copyFileSync(from, Path.join(root, to))
    chmodSync(Path.join(root, to), 0o755)
  }
}

const layBase = (root: string, node: string): void => {
  copyProgram(node, root, "/usr/local/bin/node")
  for (const program of ["env", "install", "ln"]) copyProgram(`/usr/bin/${program}`, root, `/usr/bin/${program}`)
  for (const folder of ["dev", "etc", "proc", "run", "tmp"]) mkdirSync(Path.join(root, folder))
  for (const device of ["null", "urandom"]) writeFileSync(Path.join(root, "dev", device), "")
}

const runStage = (
  { context, folder, node }: BuildOptions,
  stage: Stage,
  stages: ReadonlyMap<string, string>,
  isLast: boolean
): string => {
  const root = Path.join(folder, stage.name ?? "image")
  mkdirSync(root)
  if (isLast) layBase(root, node)
  let workdir = "/"
  for (const step of stage.steps) {
    switch (step._tag) {
      case "Workdir":
        workdir = Path.posix.resolve(workdir, step.path)
        mkdirSync(Path.join(root, workdir), { recursive: true })
        break
      case "Copy": {
        const target = Path.join(root, Path.posix.resolve(workdir, step.target))
        if (step.from === undefined) {
          if (step.sources.join(" ") !== ".") throw new Error("the rehearsal copies the whole context only: write COPY . TARGET")
          for (const file of BuildContext.files(context)) {
            mkdirSync(Path.dirname(Path.join(target, file)), { recursive: true })
            copyFileSync(Path.join(context, file), Path.join(target, file))
          }
        } else {
          const from = stages.get(step.from)
          if (from === undefined) throw new Error(`COPY --from=${step.from} names no earlier stage`)
          for (const source of step.sources) cpSync(Path.join(from, source), target, { recursive: true, verbatimSymlinks: true })
        }
        break
      }
      case "Run": {
        const [program = "", ...args] = step.command
        if (isLast) execFileSync("chroot", [root, program, ...args], { env: { PATH: path }, stdio: "pipe" })
        else {
          const env = { ...process.env, PATH: `${Path.dirname(node)}:${process.env["PATH"] ?? path}`, CI: "true" }
          execFileSync(program, args, { cwd: Path.join(root, workdir), env, stdio: "pipe", timeout: 300_000 })
        }
        break
      }
    }
  }
  return root
}

export const build = (options: BuildOptions, { settings, stages }: Image): Built => {
  const roots = new Map<string, string>()
  let root = ""
  for (const [index, stage] of stages.entries()) {
    root = runStage(options, stage, roots, index === stages.length - 1)
    if (stage.name !== undefined) roots.set(stage.name, root)
  }
  return { root, settings }
}

/** The files below a folder with all that a write would change, to compare two moments. */
export const listing = (root: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const visit = (folder: string): void => {
    for (const name of readdirSync(Path.join(root, folder))) {
      const file = Path.join(folder, name)
      const { ctimeMs, gid, mode, size, uid } = lstatSync(Path.join(root, file))
      found.set(file, [mode, uid, gid, size, ctimeMs].join(" "))
      if (lstatSync(Path.join(root, file)).isDirectory()) visit(file)
    }
  }
  visit("/")
  return found
}

/** Files and bytes below a folder. */
export const sizeOf = (root: string): { readonly files: number; readonly bytes: number } => {
  const sizes = [...listing(root).keys()].map((file) => lstatSync(Path.join(root, file))).filter((stat) => stat.isFile())
  return { files: sizes.length, bytes: sizes.reduce((sum, { size }) => sum + size, 0) }
}

export interface Mount {
  readonly from: string
  readonly to: string
  readonly readOnly?: boolean
}

export interface RunOptions {
  readonly command?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly mounts?: ReadonlyArray<Mount>
}

export interface Container {
  /** The process on this machine; 1 in the container. */
  readonly pid: () => number | undefined
  readonly output: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Runs a program inside. Without a user, that of the image. */
  readonly exec: (command: ReadonlyArray<string>, user?: "root") => { readonly status: number | null; readonly output: string }
}

const prepare = `
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount -t proc -o nosuid,nodev,noexec proc "$ROOT/proc"
mount -t tmpfs -o nosuid,nodev,noexec,size=64m,mode=1777 tmpfs "$ROOT/tmp"
for device in null urandom; do mount --bind "/dev/$device" "$ROOT/dev/$device"; done
`

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const mountCommand = (root: string) => ({ from, readOnly = false, to }: Mount): string => {
  const target = quoted(Path.join(root, to))
  return `mount --bind ${quoted(from)} ${target}${readOnly ? `\nmount -o remount,bind,ro ${target}` : ""}`
}

/** Starts the image. Mounts are created in its root first, as an engine does. */
export const start = (
  { root, settings }: Built,
  { command = settings.command, env = {}, mounts = [] }: RunOptions
): Container => {
  for (const { from, to } of mounts) {
    const target = Path.join(root, to)
    if (existsSync(target)) continue
    mkdirSync(Path.dirname(target), { recursive: true })
    if (lstatSync(from).isDirectory()) mkdirSync(target)
    else writeFileSync(target, "")
  }
  const variables = Object.entries({ PATH: path, ...settings.env, ...env }).map(([name, value]) => `${name}=${value}`)
  const words = [
    "setpriv",
    "--no-new-privs",
    "chroot",
    `--userspec=${settings.user}`,
    "--groups=",
    root,
    "/usr/bin/env",
    "-i",
    `--chdir=${settings.workdir}`,
    ...variables,
    ...settings.entrypoint,
    ...command
  ]
  const script = [
    prepare,
    ...mounts.map(mountCommand(root)),
    `mount -o remount,bind,ro "$ROOT"`,
    `exec ${words.map(quoted).join(" ")}`
  ].join("\n")
  const outer = spawn("unshare", ["--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", script], {
    env: { PATH: path, ROOT: root },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  for (const stream of [outer.stdout, outer.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  const pid = () => {
    const file = `/proc/${outer.pid}/task/${outer.pid}/children`
    const [first = ""] = existsSync(file) ? readFileSync(file, "utf8").trim().split(" ") : []
    return first === "" ? undefined : Number(first)
  }
  const running = () => {
    const inner = pid()
    if (inner === undefined) throw new Error(`the container does not run: ${output}`)
    return inner
  }
  return {
    pid,
    output: () => output,
    ended: new Promise((resolve) => outer.once("close", (code, signal) => resolve(code ?? signal))),
    kill: (signal) => {
      const inner = pid()
      if (inner !== undefined) process.kill(inner, signal)
    },
    exec: (words, user) => {
      const [uid = "0", gid = "0"] = user === "root" ? [] : settings.user.split(":")
      const { status, stderr, stdout } = spawnSync("nsenter", [
        `--target=${running()}`,
        "--mount",
        "--pid",
        "--root",
        `--setuid=${uid}`,
        `--setgid=${gid}`,
        "/usr/bin/env",
        "-i",
        `--chdir=${settings.workdir}`,
        ...variables,
        ...words
      ], { encoding: "utf8", timeout: 30_000 })
      return { status, output: `${stdout}${stderr}` }
    }
  }
}

/** What the kernel reports about the process: its user, capabilities and whether its root is read-only. */
export const confinement = (pid: number) => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1]
  const [, options = ""] = /^\S+ \/ \S+ (\S+)/m.exec(readFileSync(`/proc/${pid}/mounts`, "utf8")) ?? []
  return {
    user: field("Uid"),
    group: field("Gid"),
    capabilities: [field("CapEff"), field("CapPrm"), field("CapInh"), field("CapAmb")].filter((set) => set !== "0000000000000000"),
    noNewPrivileges: field("NoNewPrivs") === "1",
    /** The process id inside its namespace. */
    processId: Number(/^NSpid:.*\s(\d+)$/m.exec(status)?.[1]),
    readOnlyRoot: options.split(",").includes("ro"),
    peakMemory: Number(field("VmHWM")) * 1024
  }
}
