/**
 * Builds the file system of an image by the steps of its Dockerfile and runs it like a container engine: process 1 of its own PID
 * namespace, an unprivileged user, no capabilities, a read-only root. It requires root on Linux. It differs from an engine in this:
 * the stages before the image run on this machine, a base image is a folder with Node and the few programs that the steps call, the network
 * is that of this machine, and there is no seccomp filter.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
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
  for (const folder of ["etc", "run", "tmp"]) mkdirSync(Path.join(root, folder))
}

const runStage = (
  { context, folder, node }: BuildOptions,
  stage: Stage,
  stages: ReadonlyMap<string, string>,
  workdirs: Map<string, string>,
  isLast: boolean
): string => {
  // Nothing needs the earlier state of a stage that another one continues, so both have one folder.
  const continued = stages.get(stage.image)
  const root = continued ?? Path.join(folder, stage.name ?? "image")
  if (continued === undefined) mkdirSync(root)
  if (isLast && stage.image !== "scratch") layBase(root, node)
  let workdir = workdirs.get(stage.image) ?? "/"
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
          if (step.owner !== undefined) {
            const [uid = 0, gid = 0] = step.owner.split(":").map(Number)
            // The folder that it creates, and what is in it.
            for (const path of [target, ...[...listing(target).keys()].map((file) => Path.join(target, file))]) chownSync(path, uid, gid)
          }
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
  if (stage.name !== undefined) workdirs.set(stage.name, workdir)
  return root
}

/** Builds images. A stage that two of them need runs once. */
export const builder = (options: BuildOptions): (image: Image) => Built => {
  const roots = new Map<string, string>()
  const workdirs = new Map<string, string>()
  return ({ settings, stages }) => {
    let root = ""
    for (const [index, stage] of stages.entries()) {
      const name = stage.name ?? "image"
      root = roots.get(name) ?? runStage(options, stage, roots, workdirs, index === stages.length - 1)
      roots.set(name, root)
    }
    return { root, settings }
  }
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

export interface Ended {
  readonly status: number | null
  readonly output: string
}

export interface Container {
  /** The process on this machine; 1 in the container. */
  readonly pid: () => number | undefined
  readonly output: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Runs a program of the image inside, as its user, with variables that differ. */
  readonly exec: (command: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) => Ended
  /** Runs a line of this machine's shell as root among the mounts of the container. `$ROOT` is the root of the image there. */
  readonly shell: (line: string) => Ended
}

const devices = ["null", "urandom"]

/** The places that an engine mounts on. */
const placeDevices = (root: string): void => {
  for (const folder of ["dev", "proc", "tmp"]) mkdirSync(Path.join(root, folder), { recursive: true })
  for (const device of devices) writeFileSync(Path.join(root, "dev", device), "")
}

const prepare = `
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount -t proc -o nosuid,nodev,noexec proc "$ROOT/proc"
mount -t tmpfs -o nosuid,nodev,noexec,size=64m,mode=1777 tmpfs "$ROOT/tmp"
for device in ${devices.join(" ")}; do mount --bind "/dev/$device" "$ROOT/dev/$device"; done
`

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const mountCommand = (root: string) => ({ from, readOnly = false, to }: Mount): string => {
  const target = quoted(Path.join(root, to))
  return `mount --bind ${quoted(from)} ${target}${readOnly ? `\nmount -o remount,bind,ro ${target}` : ""}`
}

/** Starts the image. The places of its mounts are created in its root first, as an engine does. */
export const start = (
  { root, settings }: Built,
  { command = settings.command, env = {}, mounts = [] }: RunOptions
): Container => {
  placeDevices(root)
  for (const { from, to } of mounts) {
    const target = Path.join(root, to)
    if (existsSync(target)) continue
    mkdirSync(Path.dirname(target), { recursive: true })
    if (lstatSync(from).isDirectory()) mkdirSync(target)
    else writeFileSync(target, "")
  }
  const variables = { PATH: path, ...settings.env, ...env }
  const [uid = "0", gid = "0"] = settings.user.split(":")
  const words = [
    "setpriv",
    "--no-new-privs",
    "env",
    "-i",
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    "/usr/bin/unshare",
    `--root=${root}`,
    `--wd=${settings.workdir}`,
    `--setgid=${gid}`,
    `--setuid=${uid}`,
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
    exec: (words, changed = {}) => {
      const { status, stderr, stdout } = spawnSync("/usr/bin/nsenter", [
        `--target=${running()}`,
        "--mount",
        "--pid",
        "--root",
        `--wdns=${settings.workdir}`,
        `--setgid=${gid}`,
        `--setuid=${uid}`,
        ...words
      ], { encoding: "utf8", env: { ...variables, ...changed }, timeout: 30_000 })
      return { status, output: `${stdout}${stderr}` }
    },
    shell: (line) => {
      const { status, stderr, stdout } = spawnSync("nsenter", [`--target=${running()}`, "--mount", "sh", "-c", line], {
        encoding: "utf8",
        env: { PATH: path, ROOT: root, LC_ALL: "C" },
        timeout: 30_000
      })
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
