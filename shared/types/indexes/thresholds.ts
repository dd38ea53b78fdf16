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
  /** What failed is tried again after a minute, then after twice as long each time. */
  retry: { firstMinutes: 1, lastMinutes: 24 * 60 },
})
