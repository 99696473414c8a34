/** What a published package contains or requires of others: the texts of licences, and a bill of materials in the format of CycloneDX. */
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library"
import { readdirSync, readFileSync } from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { locate, packageOf, readManifest } from "./manifest.mjs"

/**
 * The folders of the packages with these modules, sorted by name.
 * @param {Iterable<string>} modules the ids of a bundler; those that begin with `\0` are generated
 */
export const packagesOf = (modules) => {
  const folders = new Set([...modules].filter((id) => !id.startsWith("\0")).map((id) => packageOf(id)))
  return sorted([...folders].filter((folder) => folder !== undefined))
}

/** @param {ReadonlyArray<string>} folders */
const sorted = (folders) => {
  const name = (/** @type {string} */ folder) => `${readManifest(folder).name}@${readManifest(folder).version}`
  return folders.toSorted((one, other) => name(one) < name(other) ? -1 : 1)
}

/** @param {string} folder */
const isThirdParty = (folder) => folder.split(Path.sep).includes("node_modules")

/**
 * The licences of the packages that are not part of this repository.
 * @param {ReadonlyArray<string>} folders
 */
export const licenses = (folders) => {
  const texts = folders.filter(isThirdParty).map((folder) => {
    const { author, license, name, version } = readManifest(folder)
    const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i.test(file)).toSorted()
    if (license === undefined && files.length === 0) throw new Error(`${name} ${version} has no licence`)
    const by = typeof author === "string" ? author : author?.name
    const head = [`${name} ${version}`, license, ...(files.length === 0 && by !== undefined ? [by] : [])].join(", ")
    return [head, ...files.map((file) => readFileSync(Path.join(folder, file), "utf8").trim())].join("\n\n")
  })
  return `This program contains the following packages.\n\n${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`
}

const licenseFactory = new Contrib.License.Factories.LicenseFactory((text) => {
  if (!/ (?:AND|OR|WITH) /.test(text)) throw new RangeError(`${text} is no expression of SPDX`)
})
const componentBuilder = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(
  new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory(),
  licenseFactory
)

const lockfile = fileURLToPath(new URL("../pnpm-lock.yaml", import.meta.url))

/**
 * The SHA-512 of the tarball of each third-party package, in hexadecimal, by name and version.
 * @type {ReadonlyMap<string, string>}
 */
const hashes = new Map(
  // The cast is true for lockfiles of pnpm 9 and later.
  Object.entries(
    /** @type {{ readonly packages: Readonly<Record<string, { readonly resolution: { readonly integrity?: string } }>> }} */
    (parse(readFileSync(lockfile, "utf8"))).packages
  ).flatMap(([id, { resolution: { integrity } }]) =>
    integrity?.startsWith("sha512-") === true ? [[id, Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex")]] : []
  )
)

/**
 * @param {string} folder
 * @param {Enums.ComponentType} [type]
 */
const componentOf = (folder, type) => {
  const manifest = readManifest(folder)
  const component = componentBuilder.makeComponent(manifest, type)
  if (component === undefined) throw new Error(`the package.json in ${folder} has no name`)
  component.purl = `pkg:npm/${manifest.name.replace("@", "%40")}@${manifest.version}`
  component.bomRef.value = component.purl
  if (isThirdParty(folder)) {
    const hash = hashes.get(`${manifest.name}@${manifest.version}`)
    if (hash === undefined) throw new Error(`the lockfile has no hash of ${manifest.name}@${manifest.version}`)
    component.hashes.set(Enums.HashAlgorithm["SHA-512"], hash)
  }
  return component
}

/**
 * The bill of materials of a published package: the packages whose modules it contains, its dependencies with theirs, its optional
 * dependencies, and its peers. Versions are those of this installation.
 * @param {string} folder
 * @param {ReadonlyArray<string>} bundled the folders of the packages whose modules it contains
 */
export const sbom = (folder, bundled = []) => {
  const manifest = readManifest(folder)
  const root = componentOf(folder, manifest.bin === undefined ? Enums.ComponentType.Library : Enums.ComponentType.Application)
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: root }) })
  /** @type {Map<string, Models.Component>} */
  const known = new Map()

  /**
   * @param {Models.Component} dependant
   * @param {string} found
   * @param {Enums.ComponentScope} scope
   * @param {boolean} follow whether its dependencies are part of the list
   */
  const add = (dependant, found, scope, follow) => {
    let component = known.get(found)
    if (component === undefined) {
      component = componentOf(found)
      component.scope = scope
      known.set(found, component)
      bom.components.add(component)
      if (follow) addAll(component, found, Object.keys(readManifest(found).dependencies ?? {}), scope, true)
    }
    dependant.dependencies.add(component.bomRef)
  }

  /**
   * @param {Models.Component} dependant
   * @param {string} from
   * @param {ReadonlyArray<string>} names
   * @param {Enums.ComponentScope} scope
   * @param {boolean} follow
   */
  const addAll = (dependant, from, names, scope, follow) => {
    for (const name of names) {
      const found = locate(name, from)
      if (found === undefined) throw new Error(`${name} is not installed: run the installation again`)
      add(dependant, found, scope, follow)
    }
  }

  const { Optional, Required } = Enums.ComponentScope
  for (const found of bundled) if (found !== folder) add(root, found, Required, false)
  addAll(root, folder, Object.keys(manifest.dependencies ?? {}), Required, true)
  addAll(root, folder, Object.keys(manifest.optionalDependencies ?? {}), Optional, true)
  addAll(root, folder, Object.keys(manifest.peerDependencies ?? {}), Required, false)
  const normalize = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  return `${new Serialize.JsonSerializer(normalize).serialize(bom, { sortLists: true, space: 2 })}\n`
}
