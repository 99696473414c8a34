/**
 * The Kubernetes manifests: the compiler checks them as literals of the types of `kubernetes-models`, which rejects unknown keys, its
 * validators check required fields, and the rest is compared with the program.
 */
import * as FleetDatabase from "@plaza/stock-sync/fleet/FleetDatabase"
import * as FleetSecret from "@plaza/stock-sync/fleet/FleetSecret"
import { lockExpiration } from "@plaza/stock-sync/fleet/OwnershipCluster"
import { Duration, Effect, Result, Schema } from "effect"
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { StatefulSet } from "kubernetes-models/apps/v1/StatefulSet"
import { Job } from "kubernetes-models/batch/v1/Job"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { Service } from "kubernetes-models/v1/Service"
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import {
  changed,
  commandProblems,
  folder,
  image,
  longestStop,
  manifest,
  paths,
  port,
  read,
  repository,
  variables
} from "./support/program.ts"

const kinds = { Deployment, Job, NetworkPolicy, PodDisruptionBudget, Service, ServiceAccount, StatefulSet }
const modules: Readonly<Record<keyof typeof kinds, string>> = {
  Deployment: "apps/v1/Deployment",
  Job: "batch/v1/Job",
  NetworkPolicy: "networking.k8s.io/v1/NetworkPolicy",
  PodDisruptionBudget: "policy/v1/PodDisruptionBudget",
  Service: "v1/Service",
  ServiceAccount: "v1/ServiceAccount",
  StatefulSet: "apps/v1/StatefulSet"
}
const Kind = Schema.Struct({
  kind: Schema.Literals(["Deployment", "Job", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount", "StatefulSet"])
})

const filesBelow = (path: string): ReadonlyArray<string> =>
  readdirSync(Path.join(folder, path), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(Path.join(path, entry.name)) : [Path.join(path, entry.name)]
  )
const all = filesBelow("kubernetes")
const kustomizations = all.filter((file) => file.endsWith("/kustomization.yaml"))
const manifests = all.filter((file) => !kustomizations.includes(file))

const strings = Schema.Record(Schema.String, Schema.String)
const Probe = Schema.Struct({
  httpGet: Schema.Struct({ path: Schema.String, port: Schema.Literal("http") }),
  timeoutSeconds: Schema.Number
})
const Pod = Schema.Struct({
  automountServiceAccountToken: Schema.Literal(false),
  enableServiceLinks: Schema.Literal(false),
  terminationGracePeriodSeconds: Schema.Number.pipe(Schema.withDecodingDefaultKey(Effect.succeed(30))),
  securityContext: Schema.Struct({
    runAsNonRoot: Schema.Literal(true),
    runAsUser: Schema.Number,
    runAsGroup: Schema.Number,
    fsGroup: Schema.Number,
    seccompProfile: Schema.Struct({ type: Schema.Literal("RuntimeDefault") })
  }),
  containers: Schema.Tuple([Schema.Struct({
    image: Schema.String,
    args: Schema.Array(Schema.String),
    env: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
    ports: Schema.optional(Schema.Tuple([Schema.Struct({ name: Schema.Literal("http"), containerPort: Schema.Number })])),
    startupProbe: Schema.optional(Probe),
    livenessProbe: Schema.optional(Probe),
    readinessProbe: Schema.optional(Probe),
    resources: Schema.Struct({
      requests: Schema.Struct({ cpu: Schema.String, memory: Schema.String }),
      limits: Schema.Struct({ memory: Schema.String })
    }),
    securityContext: Schema.Struct({
      allowPrivilegeEscalation: Schema.Literal(false),
      readOnlyRootFilesystem: Schema.Literal(true),
      capabilities: Schema.Struct({ drop: Schema.Tuple([Schema.Literal("ALL")]) })
    }),
    volumeMounts: Schema.Array(Schema.Struct({ name: Schema.String, mountPath: Schema.String }))
  })]),
  volumes: Schema.Array(Schema.Struct({
    name: Schema.String,
    secret: Schema.optional(Schema.Struct({
      secretName: Schema.String,
      defaultMode: Schema.Number,
      items: Schema.Array(Schema.Struct({ key: Schema.String, path: Schema.String }))
    }))
  }))
})
const Workload = Schema.Struct({
  spec: Schema.Struct({ template: Schema.Struct({ metadata: Schema.Struct({ labels: strings }), spec: Pod }) })
})

const check = (holds: boolean, problem: string) => holds ? [] : [problem]

const podProblems = ({ spec: { template: { spec } } }: typeof Workload.Type): ReadonlyArray<string> => {
  const [container] = spec.containers
  const isServer = container.args.includes("run")
  const { fsGroup, runAsGroup, runAsUser } = spec.securityContext
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]
  const secretFiles = spec.volumes.flatMap(({ name, secret }) =>
    (secret?.items ?? []).flatMap(({ path }) =>
      container.volumeMounts.filter((mount) => mount.name === name).map(({ mountPath }) => `${mountPath}/${path}`)
    )
  )
  return [
    ...check([`${runAsUser}:${runAsGroup}`, `${fsGroup}:${fsGroup}`].every((user) => user === image.settings.user),
      "the user is not that of the image"),
    ...check(container.image === `plaza-stock-sync:${manifest.version}`, "the image has another version than the program"),
    ...commandProblems(container.args),
    ...container.env.flatMap(({ name }) => check(variables.has(name), `${name} is not a variable that a deployment sets`)),
    ...container.env.filter(({ name }) => name.endsWith("_FILE")).flatMap(({ name, value }) =>
      check(secretFiles.includes(value), `${name} names no file of a secret`)
    ),
    ...spec.volumes.flatMap(({ secret }) => check(secret === undefined || secret.defaultMode === 0o440, "everybody can read the secret")),
    ...check(container.volumeMounts.some(({ mountPath }) => mountPath === "/tmp"), "/tmp is not writable"),
    ...check(container.args.join() !== "run" || container.volumeMounts.some(({ mountPath }) => mountPath === image.settings.workdir),
      "the ledger has no volume"),
    ...check(!isServer || spec.terminationGracePeriodSeconds > Duration.toSeconds(longestStop), "the grace period is too short"),
    ...check(!isServer || container.ports?.[0].containerPort === port, "the port is not that of the image"),
    ...check(!isServer || probes.map((probe) => probe?.httpGet.path).join() === [paths[0], paths[0], paths[1]].join(),
      "the probes request other paths")
  ]
}

/** The problems of one document, by the validators and by comparison with the program. */
const problems = (text: string): ReadonlyArray<string> => {
  const document: unknown = parse(text)
  const { kind } = Schema.decodeUnknownSync(Kind)(document)
  const { data, problems } = validated(kind, document)
  return problems.length > 0 || !["Deployment", "Job", "StatefulSet"].includes(kind)
    ? problems
    : Result.match(Schema.decodeUnknownResult(Workload)(data), { onFailure: ({ message }) => [message], onSuccess: podProblems })
}

const validated = (kind: keyof typeof kinds, document: unknown) => {
  // True as far as the validator that follows finds no problem.
  const model = new (kinds[kind] as new(data: unknown) => { readonly validate: () => void })(document)
  try {
    model.validate()
    return { data: document, problems: [] }
  } catch (error) {
    return { data: document, problems: [error instanceof Error ? error.message : String(error)] }
  }
}

/** What the compiler reports if the documents are written as literals of their types. */
const typeProblems = (texts: ReadonlyArray<string>): string => {
  const build = Path.join(folder, "build")
  mkdirSync(build, { recursive: true })
  const temporary = mkdtempSync(Path.join(build, "manifests-"))
  try {
    const literals = texts.map((text, index) => {
      const { kind } = Schema.decodeUnknownSync(Kind)(parse(text))
      return `import type { I${kind} as T${index} } from "kubernetes-models/${modules[kind]}"\nexport const v${index}: T${index} = ${
        JSON.stringify(parse(text), undefined, 1)
      }\n`
    })
    writeFileSync(Path.join(temporary, "manifests.ts"), literals.join("\n"))
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: "esnext",
      moduleResolution: "bundler",
      target: "es2022",
      types: []
    }
    writeFileSync(Path.join(temporary, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["manifests.ts"] }))
    const { status, stdout } = spawnSync(process.execPath, [Path.join(repository, "node_modules/typescript/bin/tsc"), "-p", temporary], {
      encoding: "utf8"
    })
    return status === 0 ? "" : stdout
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const deployment = "kubernetes/fleet/deployment.yaml"
const statefulSet = "kubernetes/single/stateful-set.yaml"
const job = "kubernetes/fleet/migrate/job.yaml"

describe("the Kubernetes manifests", () => {
  it("have the types of Kubernetes", () => {
    expect(manifests.length).toBeGreaterThan(8)
    expect(typeProblems(manifests.map(read))).toBe("")
  })

  it.each(manifests)("%s: is valid, confined and as the program requires", (file) => {
    expect(problems(read(file))).toEqual([])
  })

  it.each([
    [deployment, "maxSurge:", "maxSurges:"],
    [deployment, "failureThreshold: 30", "failureTreshold: 30"],
    [deployment, "readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"],
    [deployment, "minReadySeconds: 15", "minReadySeconds: 15s"],
    [job, "backoffLimit", "backOffLimit"],
    ["kubernetes/fleet/network-policy.yaml", "podSelector", "podsSelector"],
    ["kubernetes/fleet/pod-disruption-budget.yaml", "maxUnavailable", "maxUnavailables"]
  ])("of %s with %j replaced by %j do not have the types of Kubernetes", (file, from, to) => {
    expect(typeProblems([changed(read(file), from, to)])).toContain("error TS")
  })

  it.each([
    [
      deployment,
      "  selector:\n    matchLabels:\n      app.kubernetes.io/name: plaza-stock-sync-fleet\n      app.kubernetes.io/component: runner\n  #",
      "  #",
      "selector"
    ],
    [deployment, "terminationGracePeriodSeconds: 45", "terminationGracePeriodSeconds: 15", "grace period"],
    [deployment, "path: /readyz", "path: /healthz", "other paths"],
    [deployment, "containerPort: 9464", "containerPort: 8080", "the port"],
    [deployment, "runAsUser: 10001", "runAsUser: 1000", "the user"],
    [deployment, "plaza-stock-sync:0.1.0", "plaza-stock-sync:latest", "another version"],
    [deployment, "/run/secrets/plaza/database", "/run/secrets/database", "names no file of a secret"],
    [deployment, "name: STOCK_SYNC_FLEET_SECRET_FILE", "name: STOCK_SYNC_FLEET_SECRET", "not a variable that a deployment sets"],
    [deployment, "defaultMode: 288", "defaultMode: 292", "everybody can read"],
    [deployment, "[fleet, run, --port, \"9464\"]", "[fleet, start]", "no command"],
    [statefulSet, "mountPath: /var/lib/plaza-stock-sync", "mountPath: /data", "the ledger has no volume"],
    [statefulSet, "name: STOCK_SYNC_PORT", "name: STOCK_SYNC_PORTS", "STOCK_SYNC_PORTS is not a variable"],
    [job, "mountPath: /tmp", "mountPath: /temp", "/tmp is not writable"],
    [deployment, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "readOnlyRootFilesystem"],
    [deployment, "drop: [ALL]", "drop: [NET_RAW]", "capabilities"],
    [deployment, "      automountServiceAccountToken: false\n", "", "automountServiceAccountToken"],
    [statefulSet, "runAsNonRoot: true", "runAsNonRoot: false", "runAsNonRoot"],
    [statefulSet, "type: RuntimeDefault", "type: Unconfined", "seccompProfile"],
    [job, "            limits:\n              memory: 512Mi\n", "", "limits"]
  ])("of %s with %j replaced by %j are refused", (file, from, to, problem) => {
    expect(problems(changed(read(file), from, to)).join("\n")).toContain(problem)
  })

  it("contain no secret", () => {
    const secrets = [FleetDatabase.variable, FleetSecret.variable, "PLAZA_API_KEY"]
    expect(all.filter((file) => /^kind: Secret$/m.test(read(file)))).toEqual([])
    expect(all.filter((file) => secrets.some((name) => new RegExp(`\\b${name}\\b`).test(read(file))))).toEqual([])
  })
})

describe("the kustomizations", () => {
  const Kustomization = Schema.Struct({
    apiVersion: Schema.Literal("kustomize.config.k8s.io/v1beta1"),
    kind: Schema.Literal("Kustomization"),
    namespace: Schema.Literal("plaza-stock-sync"),
    labels: Schema.Array(Schema.Struct({ pairs: strings })),
    resources: Schema.Array(Schema.String),
    configMapGenerator: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.String, literals: Schema.Array(Schema.String) }))),
    images: Schema.Tuple([Schema.Struct({
      name: Schema.Literal("plaza-stock-sync"),
      newName: Schema.NonEmptyString,
      newTag: Schema.Literal(manifest.version)
    })])
  })
  const decode = (file: string) => Schema.decodeUnknownSync(Kustomization, { onExcessProperty: "error" })(parse(read(file)))

  it("name every manifest once, and files that exist", () => {
    const named = kustomizations.flatMap((file) => decode(file).resources.map((resource) => Path.join(Path.dirname(file), resource)))
    expect(named.toSorted()).toEqual(manifests.toSorted())
    expect(named.filter((file) => !existsSync(Path.join(folder, file)))).toEqual([])
  })

  it("set variables of the program", () => {
    const set = kustomizations.flatMap((file) => decode(file).configMapGenerator ?? []).flatMap(({ literals }) =>
      literals.map((literal) => literal.split("=")[0] ?? "")
    )
    expect(set.length).toBeGreaterThan(0)
    expect(set.filter((name) => !variables.has(name))).toEqual([])
  })
})

describe("a fleet in Kubernetes", () => {
  const labels = Schema.decodeUnknownSync(Workload)(parse(read(deployment))).spec.template.metadata.labels
  const fieldsOf = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Unknown))
  const isSelected = (file: string, ...path: ReadonlyArray<string>) => {
    const selector = path.reduce<unknown>((value, name) => fieldsOf(value)[name], parse(read(file)))
    return Object.entries(Schema.decodeUnknownSync(strings)(selector)).every(([name, value]) => labels[name] === value)
  }

  it("selects its runners by budget, network policy and service", () => {
    expect(isSelected("kubernetes/fleet/pod-disruption-budget.yaml", "spec", "selector", "matchLabels")).toBe(true)
    expect(isSelected("kubernetes/fleet/network-policy.yaml", "spec", "podSelector", "matchLabels")).toBe(true)
    expect(isSelected("kubernetes/fleet/service.yaml", "spec", "selector")).toBe(true)
  })

  it("replaces runners only after a new one is ready, and waits longer than shards need to move", () => {
    const Strategy = Schema.Struct({
      spec: Schema.Struct({
        minReadySeconds: Schema.Number.check(Schema.isGreaterThan(Duration.toSeconds(lockExpiration))),
        strategy: Schema.Struct({ rollingUpdate: Schema.Struct({ maxSurge: Schema.Literal(1), maxUnavailable: Schema.Literal(0) }) })
      })
    })
    expect(Schema.is(Strategy)(parse(read(deployment)))).toBe(true)
  })
})
