/** Calls by Plaza on fetch, with rate limit, delivery rules, schemas and spans. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { onLayer } from "./PlazaCaller.js"

onLayer(FetchHttpClient.layer)
