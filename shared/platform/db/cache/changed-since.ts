/**
 * The condition on `cache_changes` for what was written since a horizon, given as SQL. The upper end lies beyond everything: with both ends the
 * planner expects one change in two hundred behind a horizon that it does not know, else a third of them all. With some thousand changes kept,
 * that made a prepared statement seem dearer than one planned for its values, so every get and every creation was planned anew (measured:
 * 23,000 gets a second became 16,000).
 */
export const changedSinceSql = (horizon: string): string => `written_in >= ${horizon} and written_in <= '18446744073709551615'::xid8`
