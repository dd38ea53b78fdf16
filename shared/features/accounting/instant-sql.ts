/** An instant as answers carry it: in UTC with six digits, so that texts sort as the instants do (decisions, Shared conventions). */
export const instantSql = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
