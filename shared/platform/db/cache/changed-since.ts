/**
 * The condition on `cache_changes` for rows written since a horizon, given as SQL. The upper bound excludes nothing: with both bounds the
 * planner estimates one row in two hundred, without it a third of all rows. With some thousand rows, that estimate made a prepared plan seem
 * more expensive than a custom one, so every get and every creation was planned again (measured: 23,000 gets a second became 16,000).
 */
export const changedSinceSql = (horizon: string): string => `written_in >= ${horizon} and written_in <= '18446744073709551615'::xid8`
