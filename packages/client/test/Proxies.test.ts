/** Forms of proxy variables: what they mean, and for what they are refused. */
import { describe, expect, it } from "@effect/vitest"
import * as NodeClient from "@plaza/client/node"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, ConfigProvider, Effect, Layer, Option, Result } from "effect"
import * as Proxies from "../src/internal/transport/node/Proxies.ts"

const withVariables = (env: Record<string, string>) => Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))

const proxyFor = (url: string, variables: Record<string, string>) =>
  Effect.map(NodeClient.proxyFor(new URL(url)), Option.getOrUndefined).pipe(withVariables(variables))

const service = "https://service.example/open/v1"
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

describe("a proxy variable", () => {
  for (
    const [text, url, authorization] of [
      ["http://proxy:3128", "http://proxy:3128"],
      ["http://proxy:3128/", "http://proxy:3128"],
      ["HTTP://PROXY:3128", "http://proxy:3128"],
      ["https://proxy", "https://proxy"],
      ["proxy:3128", "http://proxy:3128"],
      ["proxy", "http://proxy"],
      ["127.0.0.1:9", "http://127.0.0.1:9"],
      ["[::1]:3128", "http://[::1]:3128"],
      ["http://[2001:db8::1]:3128", "http://[2001:db8::1]:3128"],
      [" proxy:3128\n", "http://proxy:3128"],
      ["user:password@proxy:3128", "http://proxy:3128", basic("user:password")],
      ["http://user@proxy:3128", "http://proxy:3128", basic("user:")],
      ["http://user:50%off@proxy:3128", "http://proxy:3128", basic("user:50%off")],
      ["http://user:100%@proxy:3128", "http://proxy:3128", basic("user:100%")],
      ["http://user:p%40ss%25@proxy:3128", "http://proxy:3128", basic("user:p@ss%")],
      ["http://user:pässword@proxy:3128", "http://proxy:3128", basic("user:pässword")],
      ["http://user:a:b@proxy:3128", "http://proxy:3128", basic("user:a:b")],
      ["http://user:p@ss@proxy:3128", "http://proxy:3128", basic("user:p@ss")]
    ] as const
  ) {
    it(`may be ${JSON.stringify(text)}`, () => {
      expect(Proxies.parse(text)).toEqual(Result.succeed({ url, authorization }))
    })
  }

  for (
    const text of [
      "http://",
      "http://:3128",
      "proxy:port",
      "proxy:99999",
      "user:sec/ret@proxy:3128",
      "http://user:12/ret@proxy:3128",
      "http://user:12#ret@proxy:3128",
      "http://user:12?ret@proxy:3128",
      "http://user:sec ret@proxy:3128",
      "http://user:sec\\ret@proxy:3128",
      "http://proxy/proxy.pac",
      "ftp://user:secret@proxy",
      "socks5://user:secret@proxy",
      "socks4a://user:secret@proxy",
      "http:///proxy"
    ]
  ) {
    it.effect(`is refused by name and without its text if it is ${JSON.stringify(text)}`, () =>
      Effect.gen(function*() {
        for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) {
          const failure = yield* Effect.flip(Effect.scoped(Layer.build(NodeClient.layerConfig))).pipe(withVariables({ [name]: text }))
          expect(failure).toMatchObject({ _tag: "ConfigError" })
          expect(failure.message).toContain(`${name} must be`)
          expect(`${failure.message} ${JSON.stringify(failure)}`).not.toMatch(/ret|secret|proxy\.pac/)
        }
      }))
  }

  it.prop("is read or refused, whatever it holds", [
    Generate.oneOf(Generate.text, Arbitrary.map(Generate.text, (text) => `http://user:${text}@proxy:3128`))
  ], ([text]) => {
    const parsed = Proxies.parse(text)
    expect(Result.match(parsed, { onFailure: () => true, onSuccess: ({ url }) => new URL(url).origin === url })).toBe(true)
  })

  it.prop("gives the proxy every user and password that is percent-encoded", [
    Generate.unicode({ minLength: 1 }),
    Generate.unicode()
  ], ([user, password]) => {
    const text = `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@proxy:3128`
    expect(Proxies.parse(text)).toEqual(Result.succeed({ url: "http://proxy:3128", authorization: basic(`${user}:${password}`) }))
  })

  it.effect("that is blank counts as not set, and the lower-case one precedes", () =>
    Effect.gen(function*() {
      expect(yield* proxyFor(service, { https_proxy: " ", HTTPS_PROXY: "upper:1" })).toBe("http://upper:1")
      expect(yield* proxyFor(service, { https_proxy: "lower:1", HTTPS_PROXY: "upper:1" })).toBe("http://lower:1")
      expect(yield* proxyFor(service, { https_proxy: "", HTTPS_PROXY: "" })).toBe(undefined)
      expect(yield* proxyFor(service, { HTTP_PROXY: "both:1" })).toBe("http://both:1")
      expect(yield* proxyFor("http://service.example", { HTTPS_PROXY: "one:1" })).toBe(undefined)
      expect(yield* proxyFor(service, { HTTPS_PROXY: "one:1", no_proxy: " ", NO_PROXY: "service.example" })).toBe(undefined)
    }))
})

describe("loopback", () => {
  for (
    const host of [
      "localhost",
      "LocalHost",
      "localhost.",
      "shop.localhost",
      "127.0.0.1",
      "127.255.255.254",
      "127.1",
      "2130706433",
      "0x7f000001",
      "017700000001",
      "[::1]",
      "[0:0:0:0:0:0:0:1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f01:203]"
    ]
  ) {
    it.effect(`as ${host} is reached without a proxy`, () =>
      Effect.gen(function*() {
        for (const scheme of ["http", "https"]) {
          expect(yield* proxyFor(`${scheme}://${host}:4010/open/v1`, { HTTP_PROXY: "proxy:1", HTTPS_PROXY: "proxy:1" })).toBe(undefined)
        }
      }))
  }

  for (const host of ["localhost.example", "notlocalhost", "128.0.0.1", "[::2]", "[::ffff:128.0.0.1]", "127.0.0.1.example"]) {
    it.effect(`is not ${host}`, () =>
      Effect.gen(function*() {
        expect(yield* proxyFor(`http://${host}`, { HTTP_PROXY: "proxy:1" })).toBe("http://proxy:1")
      }))
  }
})

describe("NO_PROXY", () => {
  for (
    const [list, excepted, others] of [
      ["*", ["service.example", "10.0.0.1", "[2001:db8::1]"], []],
      ["a.example, *", ["service.example"], []],
      ["service.example", ["service.example", "api.service.example", "SERVICE.example", "service.example."], [
        "otherservice.example",
        "example"
      ]],
      [".service.example", ["service.example", "api.service.example"], ["otherservice.example"]],
      ["*.service.example", ["api.service.example"], ["otherservice.example"]],
      ["a.example service.example\tb.example", ["service.example", "a.example", "b.example"], ["c.example"]],
      ["SERVICE.Example.", ["service.example"], ["example"]],
      ["bücher.example", ["xn--bcher-kva.example", "bücher.example"], ["bucher.example"]],
      ["service.example:8443", ["service.example:8443"], ["service.example", "service.example:8444"]],
      ["service.example:443", ["service.example", "service.example:443"], ["service.example:8443"]],
      ["10.1.2.3", ["10.1.2.3", "[::ffff:10.1.2.3]", "0x0a010203"], ["10.1.2.4", "110.1.2.3"]],
      ["10.0.0.0/8", ["10.1.2.3", "[::ffff:10.1.2.3]"], ["11.0.0.1", "service.example", "10.example"]],
      ["10.1.2.3/8", ["10.200.0.1"], ["11.1.2.3"]],
      ["10.0.0.0/8:8443", ["10.1.2.3:8443"], ["10.1.2.3", "11.1.2.3:8443"]],
      ["[10.0.0.0]/8", ["10.1.2.3"], ["11.1.2.3"]],
      ["::ffff:10.0.0.0/104", ["10.1.2.3", "[::ffff:10.1.2.3]"], ["11.1.2.3", "[::ffff:11.1.2.3]"]],
      ["::ffff:10.1.2.3", ["10.1.2.3", "[::ffff:a01:203]"], ["10.1.2.4"]],
      ["10.1.2.3.", ["10.1.2.3", "10.1.2.3."], ["10.1.2.4"]],
      ["0x0a.1.515", ["10.1.2.3"], ["10.1.2.4"]],
      // As in a URL, where a leading zero makes a number octal.
      ["010.1.2.3", ["8.1.2.3", "010.1.2.3"], ["10.1.2.3"]],
      ["10.1.2.3:8443", ["10.1.2.3:8443"], ["10.1.2.3"]],
      [".10.1.2.3", ["10.1.2.3"], ["10.1.2.4"]],
      ["192.168.4.0/22", ["192.168.7.255"], ["192.168.8.0"]],
      ["10.1.2.3/32,0.0.0.0/32", ["10.1.2.3"], ["10.1.2.4"]],
      ["0.0.0.0/0", ["8.8.8.8"], ["service.example", "[2001:db8::1]"]],
      ["2001:db8::1", ["[2001:db8::1]", "[2001:db8:0:0::1]:8443"], ["[2001:db8::2]"]],
      ["[2001:db8::1]", ["[2001:db8::1]"], ["[2001:db8::2]"]],
      ["[2001:db8::1]:8443", ["[2001:db8::1]:8443"], ["[2001:db8::1]"]],
      ["2001:db8::/32,[2001:dba::]/32", ["[2001:db8:1::5]", "[2001:dba::1]"], ["[2001:db9::1]"]],
      ["2001:DB8::/33:443", ["[2001:db8:7fff::1]"], ["[2001:db8:8000::1]", "[2001:db8:7fff::1]:8443"]],
      ["0:0:0:0:0:0:0:0/0", ["[2001:db8::1]"], ["service.example"]],
      [
        ",, ., :, :80, /, /8, 10.0.0.0/33, 10.0.0.0/99, 10.0.0/8, x/8, 2001:db8::/129, http://service.example, [, ], [::1, %, @, 10.1.2.3/24/8",
        [],
        [
          "service.example",
          "10.1.2.3",
          "[2001:db8::1]"
        ]
      ]
    ] as const
  ) {
    it.effect(`of ${JSON.stringify(list)}`, () =>
      Effect.gen(function*() {
        const variables = { HTTPS_PROXY: "proxy:1", NO_PROXY: list }
        for (const host of excepted) expect([host, yield* proxyFor(`https://${host}`, variables)]).toEqual([host, undefined])
        for (const host of others) expect([host, yield* proxyFor(`https://${host}`, variables)]).toEqual([host, "http://proxy:1"])
      }))
  }

  it.effect("does not resolve names, as in curl and Go: a network excepts addresses only", () =>
    Effect.gen(function*() {
      // A name may resolve into the network, as the second does.
      const variables = { HTTPS_PROXY: "proxy:1", NO_PROXY: "127.0.0.0/8,::1/128" }
      expect(yield* proxyFor("https://service.test", variables)).toBe("http://proxy:1")
      expect(yield* proxyFor("https://127.0.0.1.nip.io", variables)).toBe("http://proxy:1")
      for (const host of ["127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "localhost"]) {
        expect([host, yield* proxyFor(`https://${host}`, variables)]).toEqual([host, undefined])
      }
    }))

  it.effect("may be in lower case, which precedes", () =>
    Effect.gen(function*() {
      const host = "https://10.1.2.3"
      expect(yield* proxyFor(host, { HTTPS_PROXY: "proxy:1", no_proxy: "10.0.0.0/8" })).toBe(undefined)
      expect(yield* proxyFor(host, { HTTPS_PROXY: "proxy:1", no_proxy: "11.0.0.0/8", NO_PROXY: "10.0.0.0/8" })).toBe("http://proxy:1")
    }))

  it.effect.prop("never fails, whatever it holds", [Generate.text],
    ([list]) => Effect.asVoid(proxyFor(service, { HTTPS_PROXY: "proxy:1", NO_PROXY: list })))
})
