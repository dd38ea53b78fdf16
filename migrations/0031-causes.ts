import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * What caused a change, and what the entry of a deletion keeps of the record. The columns and the constraint lock `audit_entries` exclusively
 * for a moment; the table is not rewritten, the constraint is validated and the index built beside writers. Entries of earlier releases have
 * no cause.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    begin;
    set local lock_timeout = '10s';
    alter table audit_entries
      -- The kind of the cause and, where it has one, its id: of a job, a run, a submission, a history entry or a payment link.
      add column if not exists cause_kind text,
      add column if not exists cause_id uuid,
      -- The entry whose change this one took back.
      add column if not exists undo_of uuid,
      -- Of a deleted record: its creator and dates.
      add column if not exists record_created_by uuid,
      add column if not exists record_created_at timestamptz,
      add column if not exists record_updated_at timestamptz,
      drop constraint if exists audit_entries_cause_check;
    alter table audit_entries add constraint audit_entries_cause_check check (
      case when cause_kind is null then cause_id is null
        when cause_kind in ('request', 'system') then cause_id is null
        else cause_id is not null
          and cause_kind in ('batch', 'import', 'flow', 'function', 'form', 'queue', 'payment', 'recompute', 'undo')
      end
    ) not valid;
    commit;
  `)
  await knex.raw('alter table audit_entries validate constraint audit_entries_cause_check')
  // Changes of single requests have no id and stay out of the index. Entries of one cause are appended, which ascending ids make cheap.
  await knex.raw('drop index concurrently if exists audit_entries_cause')
  await knex.raw('create index concurrently audit_entries_cause on audit_entries (workspace_id, cause_id, id) where cause_id is not null')
}
