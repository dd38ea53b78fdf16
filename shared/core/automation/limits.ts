/** Size limits of the values that blocks read and write (docs/contract/limits.md#flows). */
export const automationLimits = Object.freeze({
  /** Maximum length of a list given as the text of a JSON array: parsing it takes under 10 ms. */
  listCharacters: 262_144,
  /** Maximum length of one setting once its references are replaced. */
  renderedCharacters: 1_048_576,
})
