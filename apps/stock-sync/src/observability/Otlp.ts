/** Exports spans, metrics and logs over OTLP, in the background and once more at shutdown. */
import * as NodeClient from "@plaza/client/node"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Layer from "effect/Layer"
import * as Otlp from "effect/observability/Otlp"
import * as Redacted from "effect/Redacted"
import type { OtlpSettings } from "./OtlpSettings.ts"

export const layer = (settings: OtlpSettings): Layer.Layer<never, Config.ConfigError> => {
  const { attributes, endpoint, headers, metricsInterval, protocol, serviceName, serviceVersion } = settings
  const exporting = (protocol === "http/json" ? Otlp.layerJson : Otlp.layerProtobuf)({
    baseUrl: endpoint,
    headers: Redacted.value(headers),
    resource: { serviceName, serviceVersion, attributes },
    metricsExportInterval: metricsInterval
  })
  return exporting.pipe(
    // Otherwise the exporter reads the variables again, by rules that differ from ours.
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
    Layer.provide(NodeClient.layerConfig)
  )
}
