/**
 * When a field gets an index and when it loses it. A score is the number of uses, of which each counts half after `halfLifeDays` days, a
 * quarter after twice as many, and so on. The thresholds for building and dropping are far apart, so that indexes are not built and dropped
 * repeatedly.
 */
export const thresholds = Object.freeze({
  halfLifeDays: 3,
  /** The score from which an index is built, by the type's records: the cost of a search without an index grows with them. */
  build: [
    { records: 1_000_000, score: 20 },
    { records: 100_000, score: 50 },
    { records: 10_000, score: 200 },
  ],
  /** An index stays while its score is at least `score`, or its last use is less than `days` ago. */
  keep: { score: 5, days: 14 },
  /** A type with fewer records loses its indexes by use: a full scan is fast. */
  fewRecords: 5_000,
  /** Maximum indexes by use per type: each one adds cost to every write. */
  perType: 12,
  /** Maximum indexes of pairs per type, which count among those, and the fields of each kind whose pairs a search counts. */
  pairs: {
    perType: 3,
    perSearch: 3,
    /**
     * The pairs of a type that planning reads, those with an index and then the most used. Searches of 300 fields could use 89,700 pairs, and
     * at most three get an index.
     */
    read: 100,
    /** The uses of a type's pairs that stay stored, the most frequent: more than are read, so that those of a new pair can add up. */
    kept: 1_000,
  },
  /** An existing index is replaced only by one with a score this many times higher. */
  favour: 4,
  /** `q` searches every text field and needs an index on each; a type with more text fields gets none for `q`. */
  searchedFields: 8,
  /**
   * The shares of values from which a trigram is common or frequent. Searches do not query the index for common trigrams while rare ones
   * remain (`findRareParts`): a trigram that a million records contain takes 3 ms. Without the check for rare ones, or with higher bounds,
   * searches of prose took up to thirty times as long; with it no search took twice as long. At most `most` trigrams are stored, the most
   * common first.
   */
  trigrams: { common: 0.1, frequent: 0.02, most: 1_000 },
  /**
   * The sample: about `values` values, the first `characters` characters of each, taken again after `days` days; fewer values than `least`
   * are not evaluated. Of adjacent values one in `spread` is taken: they were written together and have more in common than others.
   */
  sample: { values: 1_000, least: 100, spread: 5, characters: 1_000, days: 1 },
  /** A failed step is retried after a minute, then after twice as long each time, at most a day. */
  retry: { firstMinutes: 1, lastMinutes: 24 * 60 },
})
