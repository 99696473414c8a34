/** Calls by Plaza on undici: slot, delivery rules, schemas, spans and all. */
import * as NodeClient from "@plaza/client/node"
import { onLayer } from "./plaza.js"

onLayer(NodeClient.layer)
