/**
 * Writes the files of a tarball that are made from others of the repository into the folder of a published package, before pnpm packs it;
 * with `--clean`, removes them after it. The files are the licence, pages of `docs`, `AGENTS.md`, the bill of materials of a library, and the
 * files of a deployment.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { sbom } from "./inventory.mjs"
import { readManifest } from "./manifest.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const website = "https://github.com/plaza-toolkit/plaza/blob/main"

/** The pages that users of a package read, the skill that coding agents get, and folders of `deploy`. */
const contents = /** @type {const} */ ({
  "@plaza/domain": { pages: ["domain.md", "glossary.md"], skill: "plaza-client" },
  "@plaza/client": {
    pages: [
      "client.md",
      "concepts/delivery.md",
      "concepts/rate-limit.md",
      "guides/chat-rules.md",
      "guides/handle-errors.md",
      "guides/post-with-media.md",
      "guides/share-a-key.md",
      "guides/ship-orders.md",
      "guides/test-your-application.md"
    ],
    skill: "plaza-client"
  },
  "@plaza/sdk": {
    pages: [
      "sdk.md",
      "concepts/delivery.md",
      "concepts/rate-limit.md",
      "guides/express-hono-next.md",
      "guides/chat-rules.md",
      "guides/handle-errors.md",
      "guides/post-with-media.md",
      "guides/ship-orders.md",
      "guides/test-your-application.md"
    ],
    // That of the client is on Effect.
    skill: undefined
  },
  "@plaza/sandbox": {
    pages: [
      "sandbox.md",
      "sandbox-in-tests.md",
      "sandbox-rules.md",
      "reference/assumptions.md",
      "reference/control-api.md",
      "reference/service-variant.md",
      "concepts/latitude.md",
      "guides/test-your-application.md"
    ],
    skill: "plaza-client"
  },
  "@plaza/cli": {
    pages: [
      "cli.md",
      "mcp.md",
      "sandbox.md",
      "sandbox-in-tests.md",
      "reference/assumptions.md",
      "reference/control-api.md",
      "reference/service-variant.md",
      "concepts/delivery.md",
      "concepts/drift.md"
    ],
    skill: "plaza"
  },
  "@plaza/stock-sync": {
    pages: [
      "stock-sync.md",
      "stock-sync-watching.md",
      "feeds.md",
      "fleet.md",
      "deploy.md",
      "concepts/ledger.md",
      "guides/buffers-and-kits.md",
      "guides/excel-and-text-files.md",
      "guides/keep-stock-right.md",
      "guides/run-a-fleet.md",
      "guides/stock-from-apis.md",
      "guides/stock-from-servers.md"
    ],
    skill: undefined,
    // Those that do not need the repository. The image and the compose files build from it.
    deploy: ["systemd", "kubernetes", "prometheus", "grafana"]
  }
})

/** @param {string} path */
const read = (path) => readFileSync(Path.join(root, path), "utf8")

/**
 * A page with the links to files that the tarball lacks leading to the repository.
 * @param {string} page
 * @param {ReadonlyArray<string>} pages
 */
const withLinks = (page, pages) =>
  read(`docs/${page}`).replace(/\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g,
    (link, /** @type {string} */ target, /** @type {string} */ anchor = "") => {
      const path = Path.posix.join("docs", Path.posix.dirname(page), target)
      return pages.some((other) => path === `docs/${other}`) ? link : `](${website}/${path}${anchor})`
    })

/**
 * @param {string} name
 * @param {string} page
 */
const titleOf = (name, page) => {
  const [, title] = /^# (.+)$/m.exec(read(`docs/${page}`)) ?? []
  if (title === undefined) throw new Error(`docs/${page} has no title, which AGENTS.md of ${name} requires`)
  return title
}

/**
 * A line for each command, from the reference.
 * @param {string} program
 */
const commandsOf = (program) =>
  [...read(`docs/reference/${program}.md`).matchAll(new RegExp(`^## (${program} .+)\n\n(.+)$`, "gm"))]
    .map(([, command, summary]) => `- \`${command}\`: ${summary}`)

/**
 * @param {import("./manifest.mjs").Manifest} manifest
 * @param {{ readonly pages: ReadonlyArray<string>, readonly skill: string | undefined }} content
 */
const agentsOf = ({ bin, description, name, version }, { pages, skill }) => {
  const [program] = Object.keys(bin ?? {})
  const skillText = skill === undefined ? [] : [
    // Without its front matter, and one level below the title of this file.
    read(`apps/cli/src/skills/${skill}/SKILL.md`).replace(/^---\n[^]*?\n---\n/, "").trim().replace(/^#(?=#* )/gm, "##")
  ]
  const commands = program === undefined ? [] : [
    `## Commands\n\nEach prints its arguments and options with \`--help\`.\n\n${commandsOf(program).join("\n")}`
  ]
  return `${
    [
      `# ${name} ${version}: notes for coding agents`,
      description,
      ...skillText,
      ...commands,
      `## Documentation of this version\n\n${pages.map((page) => `- [${titleOf(name, page)}](docs/${page})`).join("\n")}`
    ].join("\n\n")
  }\n`
}

const folder = process.cwd()
const manifest = readManifest(folder)
const content = Object.entries(contents).find(([name]) => name === manifest.name)?.[1]
if (content === undefined) throw new Error(`scripts/prepack.mjs has no pages for ${manifest.name}`)

// A bundle has its own, which its build writes.
const hasBill = !existsSync(Path.join(folder, "dist/sbom.cdx.json"))
const written = ["LICENSE", "AGENTS.md", "docs", "deploy", ...(hasBill ? ["sbom.cdx.json"] : [])]
for (const name of written) rmSync(Path.join(folder, name), { recursive: true, force: true })
if (!process.argv.includes("--clean")) {
  copyFileSync(Path.join(root, "LICENSE"), Path.join(folder, "LICENSE"))
  for (const page of content.pages) {
    const file = Path.join(folder, "docs", page)
    mkdirSync(Path.dirname(file), { recursive: true })
    writeFileSync(file, withLinks(page, content.pages))
  }
  for (const name of "deploy" in content ? content.deploy : []) {
    cpSync(Path.join(root, "deploy", name), Path.join(folder, "deploy", name), {
      recursive: true,
      filter: (file) => !Path.basename(file).includes(".test.")
    })
  }
  writeFileSync(Path.join(folder, "AGENTS.md"), agentsOf(manifest, content))
  if (hasBill) writeFileSync(Path.join(folder, "sbom.cdx.json"), sbom(folder))
}
