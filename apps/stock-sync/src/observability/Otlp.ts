/** Exports spans, metrics and logs over OTLP, in the background and once more at shutdown. */
import * as Otlp from "@effect/opentelemetry/Otlp"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { OtlpSettings } from "./OtlpSettings.js"

export const layer = (settings: OtlpSettings): Layer.Layer<never> => {
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
      Layer.provide(NodeHttpClient.layerUndici),
      // Otherwise the exporter reads the variables again, by rules that differ from the standard.
      Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map())))
    ))
  ))
}
