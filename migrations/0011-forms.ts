import type { Knex } from 'knex'

/** Public forms and their submissions. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table forms (
      workspace_id uuid not null references workspaces (id) on delete cascade,
      id uuid not null,
      key text not null,
      name text not null,
      description text not null,
      fields json not null,
      settings json not null,
      -- The record type of the record that a submission becomes; a submission fails when the type was deleted.
      object_type text,
      function_id uuid,
      published boolean not null,
      -- The account with whose rights records are written and functions run; null once it is deleted.
      edited_by uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint forms_key unique (workspace_id, key)
    );
    create trigger forms_cap after insert on forms for each row execute function limit_rows('500', 'true');
    create trigger forms_changed after insert or update or delete on forms for each row execute function invalidate_cache('workspace_id');

    create table form_submissions (
      workspace_id uuid not null,
      form_id uuid not null,
      id uuid not null,
      -- Identifies the visitor's attempt: a repeated one makes no second submission.
      visitor_key text,
      -- json and not jsonb, so that every digit stays.
      "values" json not null,
      -- Why it counts as spam; null when it does not.
      spam text,
      -- 'kept': nothing follows. 'waiting': the record is still to be written. 'running': its function runs.
      state text not null check (state in ('kept', 'waiting', 'running', 'done', 'failed')),
      record_id uuid,
      -- The operation of the function's run.
      run_id uuid,
      error text,
      created_at timestamptz not null default now(),
      primary key (workspace_id, form_id, id),
      constraint form_submissions_form foreign key (workspace_id, form_id) references forms (workspace_id, id) on delete cascade,
      constraint form_submissions_spam check (spam is null or state = 'kept'),
      constraint form_submissions_error check ((state = 'failed') = (error is not null))
    );
    create unique index form_submissions_visitor on form_submissions (workspace_id, form_id, visitor_key) where visitor_key is not null;
  `)
}
