/**
 * Sample names, texts and values for generated fixtures.
 *
 * @since 0.1.0
 */

/** @since 0.1.0 @category data */
export const first: ReadonlyArray<string> = [
  "Aiko",
  "Amara",
  "Anouk",
  "Bilal",
  "Camille",
  "Dafydd",
  "Elif",
  "Emeka",
  "Fatou",
  "Gia",
  "Håkon",
  "Ilse",
  "Jūratė",
  "Kofi",
  "Leila",
  "Mateus",
  "Nina",
  "Oluwaseun",
  "Priya",
  "Quentin",
  "Rosa",
  "Søren",
  "Tomás",
  "Uma",
  "Vikram",
  "Wanjiru",
  "Xin",
  "Yara",
  "Zofia",
  "さくら"
]

/** @since 0.1.0 @category data */
export const last: ReadonlyArray<string> = [
  "Abara",
  "Bergström",
  "Castillo",
  "Dubois",
  "Eriksen",
  "Ferrari",
  "García",
  "Hoang",
  "Ivanova",
  "Jansen",
  "Kowalski",
  "Lê",
  "Mbeki",
  "Novák",
  "O'Brien",
  "Papadopoulos",
  "Quispe",
  "Rossi",
  "Schäfer",
  "Tanaka",
  "Umar",
  "Varga",
  "Weiss",
  "Yılmaz",
  "Zhang"
]

/** @since 0.1.0 @category data */
export const texts: ReadonlyArray<string> = [
  "Is it still there?",
  "Yes, the last two of them.",
  "Lovely, thank you!",
  "The parcel came today.",
  "A small crack in the lid, sadly.",
  "We open at nine.",
  "New colours next week 🎨",
  "Which size would you take?",
  "Back after the holidays.",
  "Made by hand, so no two are alike."
]

/** @since 0.1.0 @category data */
export const products: ReadonlyArray<string> = ["Bowl", "Plate", "Cup", "Jug", "Vase", "Tray", "Lamp", "Basket", "Blanket", "Brush"]

/**
 * The columns of an order that isn't shipped. Every row of a batch needs the same columns, so they are null.
 *
 * @since 0.1.0
 * @category data
 */
export const notShipped = { carrier: null, tracking_number: null, shipped_at: null }

/**
 * The columns of a shipped order.
 *
 * @since 0.1.0
 * @category data
 */
export const shipment = (index: number, shippedAt: number) => ({
  carrier: index % 2 === 0 ? "DHL" : "Colissimo",
  tracking_number: `TRACK${String(index).padStart(9, "0")}`,
  shipped_at: shippedAt
})
