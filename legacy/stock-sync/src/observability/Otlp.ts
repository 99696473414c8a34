/** Exports spans, metrics and logs over OTLP, in the background and once more at shutdown. */
import * as Otlp from "@effect/opentelemetry/Otlp"
import * as NodeClient from "@plaza-legacy/client/node"
import type { ConfigError } from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { OtlpSettings } from "./OtlpSettings.ts"

export const layer = (settings: OtlpSettings): Layer.Layer<never, ConfigError> => {
  const { attributes, endpoint, headers, metricsInterval, protocol, serviceName, serviceVersion } = settings
  const exporting = (protocol === "http/json" ? Otlp.layerJson : Otlp.layerProtobuf)({
    baseUrl: endpoint,
    headers: Redacted.value(headers),
    resource: { serviceName, serviceVersion, attributes },
    metricsExportInterval: metricsInterval
  })
  return Layer.unwrapEffect(Effect.configProviderWith((provider) =>
    // Layer.setConfigProvider also affects layers that are built later, so the outer layer restores the provider.
    Effect.succeed(Layer.setConfigProvider(provider).pipe(
      Layer.provide(exporting),
      // The client reads the proxy variables.
      Layer.provide(Layer.provide(NodeClient.layerConfig, Layer.setConfigProvider(provider))),
      // Otherwise the exporter reads the variables again, by rules that differ from the standard.
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map())))
    ))
  ))
}
