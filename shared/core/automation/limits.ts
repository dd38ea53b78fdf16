/** Sizes of values that blocks of flows read and write (decisions, Flows). */
export const automationLimits = Object.freeze({
  /** Characters of a list that is given as the text of a JSON array: parsing it takes under 10 ms. */
  listCharacters: 262_144,
  /** Characters that one setting may have once its references are replaced. */
  renderedCharacters: 1_048_576,
})
