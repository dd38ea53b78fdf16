import type { Db } from '#test/support/rows.ts'

/** The longest time that a commit is held back after its events have drawn their ids, in seconds. */
export const latestSeconds = 10

/**
 * Holds back commits that announce events: one transaction in 100 for up to ten seconds. Three in 1,000 fail at their commit, so that ids are drawn
 * in vain. A constraint trigger that is deferred runs within the commit, when all ids are drawn and nothing can be seen yet.
 */
export async function delayCommits(db: Db): Promise<void> {
  await db.query(`
    create table late_commits (id bigint generated always as identity, seconds double precision not null);
    create function delay_commit() returns trigger language plpgsql as $$
    declare
      fate double precision := random();
      seconds double precision := random() * ${latestSeconds};
    begin
      if current_setting('faults.fate', true) = txid_current()::text then return null; end if;
      perform set_config('faults.fate', txid_current()::text, true);
      if fate < 0.01 then
        insert into late_commits (seconds) values (seconds);
        perform pg_sleep(seconds);
      elsif fate < 0.013 then
        raise exception 'not this time' using errcode = 'deadlock_detected';
      end if;
      return null;
    end $$;
    create constraint trigger delay_commit after insert on event_inbox deferrable initially deferred
      for each row execute function delay_commit()`)
}

/** How many commits were held back, and for how many seconds the longest of them. */
export async function readLateCommits(db: Db): Promise<{ count: number; longest: number }> {
  const { rows } = await db.query<{ count: number; longest: number }>(
    'select count(*)::integer as count, coalesce(max(seconds), 0) as longest from late_commits',
  )
  return rows[0] ?? { count: 0, longest: 0 }
}

/** The change of a record as the audit has it. */
export interface Entry {
  readonly id: string
  /** The type of its event. */
  readonly event: string
  readonly type: string
  readonly record: string
  readonly before: Values | null
  readonly after: Values | null
}

export type Values = Readonly<Record<string, unknown>>

/** All changes of records that the audit of a workspace has. */
export async function readEntries(db: Db, workspaceId: string): Promise<Entry[]> {
  const { rows } = await db.query<Entry>(
    `select id, 'records.' || substr(action, 8) as event, object_type as type, record_id as record, before, after from audit_entries
     where workspace_id = $1`,
    [workspaceId],
  )
  return rows
}
