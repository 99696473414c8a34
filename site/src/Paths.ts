/** The folders of the build. */
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url))

/** The pages as VitePress reads them: those of `docs/` with the API reference. */
export const pages = fileURLToPath(new URL("../build/pages", import.meta.url))

/** The list of pages, which `.vitepress/config.ts` reads. */
export const navigation = fileURLToPath(new URL("../build/navigation.json", import.meta.url))

/** The site. */
export const site = fileURLToPath(new URL("../dist", import.meta.url))

/** The path of the site at its address, such as `/plaza/`. */
export const base = process.env["SITE_BASE"] ?? "/"
