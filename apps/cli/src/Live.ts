/** The client on Node. The only module that loads it, so that help and usage errors are fast. */
import { Chat, Media, Plaza, Posts, Profiles, RateLimit, Settings, Store, Stories } from "@plaza/client"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Client } from "./Connection.js"
import { name, version } from "./version.js"
import * as Wire from "./Wire.js"

export const make: Effect.Effect<Client, ConfigError.ConfigError, Scope.Scope> = Effect.zipWith(
  Layer.build(Layer.provide(Plaza.layerConfigFor(`${name}/${version}`), Wire.layer)),
  Settings.config,
  (services, settings) => ({
    profiles: Context.get(services, Profiles),
    posts: Context.get(services, Posts),
    media: Context.get(services, Media),
    stories: Context.get(services, Stories),
    store: Context.get(services, Store),
    chat: Context.get(services, Chat),
    rateLimit: Context.get(services, RateLimit.RateLimit),
    settings,
    open: services,
    request: Plaza.request,
    paginate: Plaza.paginate
  })
)
