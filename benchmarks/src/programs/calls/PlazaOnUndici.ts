/**
 * Calls by Plaza on undici: slot, delivery rules, schemas, spans and all.
 *
 * @since 0.1.0
 */
import * as NodeClient from "@plaza/client/node"
import { onLayer } from "./plaza.js"

onLayer(NodeClient.layer)
