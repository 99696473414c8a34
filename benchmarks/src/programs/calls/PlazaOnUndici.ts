/** Calls by Plaza on undici, with rate limit, delivery rules, schemas and spans. */
import * as NodeClient from "@plaza/client/node"
import { onLayer } from "./PlazaCaller.js"

onLayer(NodeClient.layer)
