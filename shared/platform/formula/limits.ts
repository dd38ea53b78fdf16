/**
 * Limits of a formula. A source that exceeds one is refused when it is saved. Exceeding one during evaluation gives an error value, or
 * leaves the field empty (`recordText`).
 */
export const formulaLimits = Object.freeze({
  /** Characters of a formula's source. */
  sourceLength: 4_000,
  /** Characters of all formulas of one record type. They are compiled together, in about 20 ms, whenever a field changes. */
  typeLength: 100_000,
  /** Nesting of parentheses, calls and signs. */
  depth: 64,
  /** Nodes of the tree: numbers, texts, names, operators and calls. */
  nodes: 1_000,
  /** Code points of a text during evaluation, as many as a text field holds. */
  textLength: 100_000,
  /** UTF-16 units of all long texts that one record's formulas produce: a few text fields filled by a client. Text fields have equal shares. */
  recordText: 250_000,
  /** Characters of a TEXT format or a SEARCH pattern, as in spreadsheets. */
  patternLength: 255,
  /** A number of 1e308 or more is #NUM!, as in spreadsheets; one closer to zero than 1e-308 is zero. */
  exponent: 308,
  /** Steps of one evaluation, or of one record's formulas, in equal shares. A step takes 10 to 20 ns, so evaluation ends within 50 ms. */
  steps: 2_000_000,
  /** Steps of one slice, after which a long evaluation yields the thread: about 2 to 4 ms. */
  sliceSteps: 200_000,
})
