/**
 * The paths of all pages and of their files. They are a module of their own, because a sandbox compares each request with them
 * and loads the pages only when one of them is opened.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category constants */
export const paths = {
  home: "/",
  signIn: "/sign-in",
  developers: "/settings/developers",
  operator: "/operator",
  console: "/console",
  request: "/console/request",
  har: "/console/requests.har",
  state: "/console/state",
  faults: "/console/faults",
  behaviour: "/console/behaviour",
  snapshots: "/console/snapshots",
  reference: "/reference",
  openApi: "/openapi.json",
  style: "/assets/plaza.css",
  script: "/assets/plaza.js",
  icon: "/assets/icon.svg",
  favicon: "/favicon.ico"
} as const
