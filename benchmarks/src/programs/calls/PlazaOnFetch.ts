/** Calls by Plaza on the platform's fetch: slot, delivery rules, schemas, spans and all. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { onLayer } from "./plaza.js"

onLayer(FetchHttpClient.layer)
