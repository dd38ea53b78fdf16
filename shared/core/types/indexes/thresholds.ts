/**
 * When a field gets an index and when it loses it. A score is the number of uses, of which those of `halfLifeDays` ago count half. Between
 * what makes an index and what takes it away lies much room, so that none comes and goes.
 */
export const thresholds = Object.freeze({
  halfLifeDays: 3,
  /** The score that asks for an index in a type of so many records: what a search costs without one grows with them. */
  build: [
    { records: 1_000_000, score: 20 },
    { records: 100_000, score: 50 },
    { records: 10_000, score: 200 },
  ],
  /** An index stays while its score is above this, or its last use less than so many days ago. */
  keep: { score: 5, days: 14 },
  /** Below this a type loses its indexes: reading all its records is quick. */
  fewRecords: 5_000,
  /** Indexes that one type may have by use: each is paid for by every record that is written. */
  perType: 12,
  /** An index gives way to another only when that one is asked for so many times as much. */
  favour: 4,
  /** `q` looks into every text field, and needs an index on each; a type with more of them gets none for it. */
  searchedFields: 8,
  /**
   * Trigrams that this share of the values has are common, and frequent. Searches leave common ones to the condition, as far as rare ones
   * are left (`rareParts`): to ask for one that a million records hold takes 3 ms. Without regard to what is left, or with higher bounds
   * of it, searches of prose took up to thirty times as long; so none took twice. Of very many the most common are known.
   */
  trigrams: { common: 0.1, frequent: 0.02, most: 1_000 },
  /**
   * They are counted in so many values, as far as so many characters, and again after so many days; fewer values than `least` say nothing.
   * One in `spread` is taken of those that lie together, which were made together and have more in common than others.
   */
  sample: { values: 1_000, least: 100, spread: 5, characters: 1_000, days: 1 },
  /** What failed is tried again after a minute, then after twice as long each time. */
  retry: { firstMinutes: 1, lastMinutes: 24 * 60 },
})
