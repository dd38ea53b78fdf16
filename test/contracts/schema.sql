create extension btree_gin;

create extension btree_gist;

create extension pg_trgm;

create table access_keys (
  workspace_id uuid not null,
  id uuid not null,
  service_account_id uuid not null,
  name text not null,
  prefix text not null,
  secret_hash bytea not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint access_keys_pkey PRIMARY KEY (workspace_id, id),
  constraint access_keys_workspace_id_service_account_id_fkey FOREIGN KEY (workspace_id, service_account_id) REFERENCES service_accounts(workspace_id, id) ON DELETE CASCADE
);

create table audit_entries (
  workspace_id uuid not null,
  id uuid default uuidv7() not null,
  actor_id uuid,
  actor_type text not null,
  action text not null,
  object_type text not null,
  record_id uuid not null,
  before jsonb,
  after jsonb,
  text_length integer default 0 not null,
  request_id text not null,
  created_at timestamp with time zone generated always as (uuid_extract_timestamp(id)) virtual not null,
  type_revision bigint,
  cause_kind text,
  cause_id uuid,
  undo_of uuid,
  record_created_by uuid,
  record_created_at timestamp with time zone,
  record_updated_at timestamp with time zone,
  constraint audit_entries_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'service'::text, 'system'::text]))),
  constraint audit_entries_cause_check CHECK (
CASE
    WHEN (cause_kind IS NULL) THEN (cause_id IS NULL)
    WHEN (cause_kind = ANY (ARRAY['request'::text, 'system'::text])) THEN (cause_id IS NULL)
    ELSE ((cause_id IS NOT NULL) AND (cause_kind = ANY (ARRAY['batch'::text, 'import'::text, 'flow'::text, 'function'::text, 'form'::text, 'queue'::text, 'payment'::text, 'recompute'::text, 'undo'::text])))
END),
  constraint audit_entries_pkey PRIMARY KEY (workspace_id, id)
);

create table blob_store (
  is_only boolean default true not null,
  kind text not null,
  id uuid not null,
  constraint blob_store_is_only_check CHECK (is_only),
  constraint blob_store_kind_check CHECK ((kind = ANY (ARRAY['disk'::text, 's3'::text]))),
  constraint blob_store_pkey PRIMARY KEY (is_only)
);

create table blobs (
  workspace_id uuid not null,
  id uuid not null,
  holders integer default 0 not null,
  idle_since timestamp with time zone default clock_timestamp(),
  doomed boolean default false not null,
  size_bytes bigint,
  sha256 text,
  constraint blobs_doomed_without_holders CHECK (((NOT doomed) OR (holders = 0))),
  constraint blobs_holders_check CHECK ((holders >= 0)),
  constraint blobs_idle_without_holders CHECK (((holders = 0) = (idle_since IS NOT NULL))),
  constraint blobs_measured CHECK ((num_nulls(size_bytes, sha256) <> 1)),
  constraint blobs_pkey PRIMARY KEY (workspace_id, id)
);

create table bookings (
  workspace_id uuid not null,
  event_id uuid not null,
  calendar_id uuid not null,
  attendee_id uuid not null,
  slot tstzrange,
  status text default 'booked'::text not null,
  name text not null,
  email text not null,
  notes text not null,
  request_key text,
  request_hash bytea,
  created_at timestamp with time zone default now() not null,
  constraint bookings_check CHECK (((status = 'booked'::text) OR (slot IS NULL))),
  constraint bookings_pkey PRIMARY KEY (workspace_id, event_id),
  constraint bookings_slot EXCLUDE USING gist (workspace_id WITH =, calendar_id WITH =, slot WITH &&) WHERE ((status = 'booked'::text)),
  constraint bookings_status_check CHECK ((status = ANY (ARRAY['booked'::text, 'cancelled'::text]))),
  constraint bookings_workspace_id_event_id_fkey FOREIGN KEY (workspace_id, event_id) REFERENCES calendar_events(workspace_id, id) ON DELETE CASCADE
);

create table cache_invalidations (
  id bigint generated always as identity not null,
  written_in xid8 default pg_current_xact_id() not null,
  scope text not null,
  created_at timestamp with time zone default now() not null,
  constraint cache_invalidations_pkey PRIMARY KEY (id)
);

create table calendar_attendees (
  workspace_id uuid not null,
  event_id uuid not null,
  id uuid not null,
  "position" integer not null,
  user_id uuid,
  email text not null,
  name text default ''::text not null,
  status text default 'needs_action'::text not null,
  is_booker boolean default false not null,
  is_mailed boolean default false not null,
  token_hash bytea not null,
  token_sealed bytea not null,
  constraint calendar_attendees_pkey PRIMARY KEY (workspace_id, event_id, id),
  constraint calendar_attendees_status_check CHECK ((status = ANY (ARRAY['accepted'::text, 'declined'::text, 'tentative'::text, 'needs_action'::text]))),
  constraint calendar_attendees_workspace_id_event_id_fkey FOREIGN KEY (workspace_id, event_id) REFERENCES calendar_events(workspace_id, id) ON DELETE CASCADE
);

create table calendar_events (
  workspace_id uuid not null,
  id uuid not null,
  calendar_id uuid not null,
  uid text not null,
  series_id uuid,
  original_start timestamp with time zone,
  original_date date,
  is_removed boolean default false not null,
  title text not null,
  description text default ''::text not null,
  location text default ''::text not null,
  color text default ''::text not null,
  start_at timestamp with time zone,
  end_at timestamp with time zone,
  start_date date,
  end_date date,
  timezone text not null,
  wall_start timestamp without time zone not null,
  zone_release text not null,
  recurrence text,
  rdates jsonb default '[]'::jsonb not null,
  exdates jsonb default '[]'::jsonb not null,
  extent tstzrange not null,
  status text default 'confirmed'::text not null,
  visibility text default 'default'::text not null,
  is_free boolean default false not null,
  reminders integer[],
  source text default 'manual'::text not null,
  sequence integer default 0 not null,
  organizer jsonb,
  record_type text,
  record_id uuid,
  deduplication_key text,
  created_by uuid,
  timed_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint calendar_events_check CHECK ((((start_at IS NULL) = (end_at IS NULL)) AND ((start_date IS NULL) = (end_date IS NULL)) AND ((start_at IS NULL) <> (start_date IS NULL)))),
  constraint calendar_events_check1 CHECK (((end_at >= start_at) AND (end_date > start_date))),
  constraint calendar_events_check2 CHECK (((series_id IS NULL) = ((original_start IS NULL) AND (original_date IS NULL)))),
  constraint calendar_events_check3 CHECK (((series_id IS NULL) OR (recurrence IS NULL))),
  constraint calendar_events_exception EXCLUDE USING btree (workspace_id WITH =, series_id WITH =, original_start WITH =) WHERE ((original_start IS NOT NULL)) DEFERRABLE,
  constraint calendar_events_exception_day EXCLUDE USING btree (workspace_id WITH =, series_id WITH =, original_date WITH =) WHERE ((original_date IS NOT NULL)) DEFERRABLE,
  constraint calendar_events_pkey PRIMARY KEY (workspace_id, id),
  constraint calendar_events_status_check CHECK ((status = ANY (ARRAY['confirmed'::text, 'tentative'::text, 'cancelled'::text]))),
  constraint calendar_events_visibility_check CHECK ((visibility = ANY (ARRAY['default'::text, 'private'::text]))),
  constraint calendar_events_workspace_id_calendar_id_fkey FOREIGN KEY (workspace_id, calendar_id) REFERENCES calendars(workspace_id, id) ON DELETE CASCADE,
  constraint calendar_events_workspace_id_series_id_fkey FOREIGN KEY (workspace_id, series_id) REFERENCES calendar_events(workspace_id, id) ON DELETE CASCADE
);

create table calendar_feeds (
  workspace_id uuid not null,
  calendar_id uuid not null,
  tag text not null,
  blob_id uuid not null,
  size_bytes bigint not null,
  constraint calendar_feeds_pkey PRIMARY KEY (workspace_id, calendar_id),
  constraint calendar_feeds_workspace_id_calendar_id_fkey FOREIGN KEY (workspace_id, calendar_id) REFERENCES calendars(workspace_id, id) ON DELETE CASCADE
);

create table calendar_mail_counts (
  day date not null,
  kind text not null,
  subject text not null,
  mails integer not null,
  constraint calendar_mail_counts_pkey PRIMARY KEY (day, kind, subject)
);

create table calendar_shares (
  workspace_id uuid not null,
  calendar_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  level text not null,
  created_at timestamp with time zone default now() not null,
  constraint calendar_shares_level_check CHECK ((level = ANY (ARRAY['busy'::text, 'read'::text, 'write'::text, 'manage'::text]))),
  constraint calendar_shares_pkey PRIMARY KEY (workspace_id, calendar_id, id),
  constraint calendar_shares_user UNIQUE (workspace_id, calendar_id, user_id),
  constraint calendar_shares_workspace_id_calendar_id_fkey FOREIGN KEY (workspace_id, calendar_id) REFERENCES calendars(workspace_id, id) ON DELETE CASCADE,
  constraint calendar_shares_workspace_id_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members(workspace_id, user_id) ON DELETE CASCADE
);

create table calendar_states (
  workspace_id uuid not null,
  calendar_id uuid not null,
  version bigint default 1 not null,
  changed_at timestamp with time zone default now() not null,
  fired_until timestamp with time zone,
  constraint calendar_states_pkey PRIMARY KEY (workspace_id, calendar_id),
  constraint calendar_states_workspace_id_calendar_id_fkey FOREIGN KEY (workspace_id, calendar_id) REFERENCES calendars(workspace_id, id) ON DELETE CASCADE
);

create table calendars (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  kind text not null,
  owner_id uuid,
  is_primary boolean default false not null,
  name text not null,
  description text default ''::text not null,
  color text default ''::text not null,
  visibility text default 'none'::text not null,
  timezone text not null,
  settings jsonb default '{}'::jsonb not null,
  feed_hash bytea,
  feed_sealed bytea,
  left_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint calendars_check CHECK (((kind = 'personal'::text) = (owner_id IS NOT NULL))),
  constraint calendars_check1 CHECK (((feed_hash IS NULL) = (feed_sealed IS NULL))),
  constraint calendars_key UNIQUE (workspace_id, key),
  constraint calendars_kind_check CHECK ((kind = ANY (ARRAY['personal'::text, 'org'::text, 'records'::text]))),
  constraint calendars_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint calendars_pkey PRIMARY KEY (workspace_id, id),
  constraint calendars_visibility_check CHECK ((visibility = ANY (ARRAY['none'::text, 'busy'::text, 'read'::text]))),
  constraint calendars_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table deferred_jobs (
  workspace_id uuid not null,
  id uuid not null,
  queue text not null,
  envelope jsonb not null,
  constraint deferred_jobs_pkey PRIMARY KEY (workspace_id, id),
  constraint deferred_jobs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table do_not_contact (
  workspace_id uuid not null,
  address text not null,
  reason text not null,
  message_id uuid,
  created_at timestamp with time zone not null,
  constraint do_not_contact_pkey PRIMARY KEY (workspace_id, address),
  constraint do_not_contact_reason_check CHECK ((reason = ANY (ARRAY['unsubscribed'::text, 'complaint'::text]))),
  constraint do_not_contact_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table drive_objects (
  workspace_id uuid not null,
  space_id uuid not null,
  key text not null,
  blob_id uuid,
  size_bytes bigint default 0 not null,
  content_type text default ''::text not null,
  sha256 text default ''::text not null,
  created_by uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint drive_objects_check CHECK ((("right"(key, 1) = '/'::text) = (blob_id IS NULL))),
  constraint drive_objects_key PRIMARY KEY (workspace_id, space_id, key),
  constraint drive_objects_key_check CHECK (((octet_length(key) >= 1) AND (octet_length(key) <= 1032))),
  constraint drive_objects_space FOREIGN KEY (workspace_id, space_id) REFERENCES drive_spaces(workspace_id, id)
);

create table drive_shares (
  workspace_id uuid not null,
  id uuid not null,
  space_id uuid not null,
  prefix text not null,
  grantee_id uuid,
  mode text not null,
  left_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint drive_shares_grantee_id_fkey FOREIGN KEY (grantee_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint drive_shares_mode_check CHECK ((mode = ANY (ARRAY['view'::text, 'edit'::text]))),
  constraint drive_shares_once UNIQUE NULLS NOT DISTINCT (workspace_id, space_id, prefix, grantee_id) DEFERRABLE,
  constraint drive_shares_pkey PRIMARY KEY (workspace_id, id),
  constraint drive_shares_workspace_id_space_id_fkey FOREIGN KEY (workspace_id, space_id) REFERENCES drive_spaces(workspace_id, id) ON DELETE CASCADE
);

create table drive_spaces (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  name text not null,
  type text not null,
  owner_id uuid,
  is_main boolean default false not null,
  left_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint drive_spaces_check CHECK (((type = 'user'::text) = (owner_id IS NOT NULL))),
  constraint drive_spaces_check1 CHECK (((left_at IS NULL) OR (type = 'user'::text))),
  constraint drive_spaces_check2 CHECK (((type <> 'org'::text) OR (key = 'org'::text))),
  constraint drive_spaces_key UNIQUE (workspace_id, key),
  constraint drive_spaces_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint drive_spaces_pkey PRIMARY KEY (workspace_id, id),
  constraint drive_spaces_type_check CHECK ((type = ANY (ARRAY['user'::text, 'org'::text, 'custom'::text]))),
  constraint drive_spaces_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table drive_totals (
  workspace_id uuid not null,
  space_id uuid not null,
  content_type text not null,
  files bigint not null,
  bytes bigint not null,
  constraint drive_totals_pkey PRIMARY KEY (workspace_id, space_id, content_type),
  constraint drive_totals_workspace_id_space_id_fkey FOREIGN KEY (workspace_id, space_id) REFERENCES drive_spaces(workspace_id, id) ON DELETE CASCADE
);

create table due_work (
  workspace_id uuid,
  kind text not null,
  subject text not null,
  id uuid default uuidv7() not null,
  at timestamp with time zone not null,
  held boolean default false not null,
  constraint due_work_key UNIQUE NULLS NOT DISTINCT (workspace_id, kind, subject),
  constraint due_work_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table event_inbox (
  workspace_id uuid not null,
  id bigint default nextval('event_inbox_ids'::regclass) not null,
  event_id uuid not null,
  type text,
  source text,
  event text,
  topic text not null,
  subject_id uuid not null,
  created_by uuid,
  created_at timestamp with time zone,
  updated_at timestamp with time zone,
  snapshot jsonb,
  listeners jsonb,
  cause jsonb not null,
  kept jsonb,
  subject jsonb,
  data jsonb,
  constraint event_inbox_pkey PRIMARY KEY (workspace_id, id)
);

create table event_listeners (
  workspace_id uuid not null,
  source text default 'records'::text not null,
  object_type text not null,
  record_type text generated always as (
CASE
    WHEN (source = 'records'::text) THEN object_type
    ELSE NULL::text
END) stored,
  event text not null,
  subscriber text not null,
  listener_id uuid not null,
  snapshot boolean default false not null,
  since bigint default last_inbox_id() not null,
  keeps text[] default '{}'::text[] not null,
  constraint event_listeners_event CHECK (((source <> 'records'::text) OR (event = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text])))),
  constraint event_listeners_pkey PRIMARY KEY (workspace_id, source, object_type, event, subscriber, listener_id),
  constraint event_listeners_type FOREIGN KEY (workspace_id, record_type) REFERENCES record_types(workspace_id, key) ON DELETE CASCADE
);

create table event_streams (
  workspace_id uuid not null,
  place smallint not null,
  stream_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint event_streams_pkey PRIMARY KEY (workspace_id, place),
  constraint event_streams_place_check CHECK (((place >= 1) AND (place <= 50))),
  constraint event_streams_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table events (
  workspace_id uuid not null,
  seq bigint not null,
  id uuid not null,
  type text not null,
  topic text not null,
  subject_id uuid not null,
  created_by uuid,
  created_at timestamp with time zone,
  data jsonb,
  cause jsonb,
  kept jsonb,
  subject jsonb,
  constraint events_pkey PRIMARY KEY (workspace_id, seq)
);

create table feed_heads (
  workspace_id uuid not null,
  feed uuid default uuidv7() not null,
  last_seq bigint default 0 not null,
  constraint feed_heads_pkey PRIMARY KEY (workspace_id),
  constraint feed_heads_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table field_indexes (
  workspace_id uuid not null,
  field_id uuid not null,
  kind text not null,
  requested_at timestamp with time zone not null,
  built_at timestamp with time zone,
  failures integer default 0 not null,
  failure text,
  retry_at timestamp with time zone,
  sampled_at timestamp with time zone,
  common_trigrams text[] default '{}'::text[] not null,
  frequent_trigrams text[] default '{}'::text[] not null,
  lead_field_id uuid generated always as ((NULLIF(split_part(kind, ':'::text, 2), ''::text))::uuid) stored,
  constraint field_indexes_pkey PRIMARY KEY (workspace_id, field_id, kind),
  constraint field_indexes_workspace_id_field_id_fkey FOREIGN KEY (workspace_id, field_id) REFERENCES fields(workspace_id, id) ON DELETE CASCADE,
  constraint field_indexes_workspace_id_lead_field_id_fkey FOREIGN KEY (workspace_id, lead_field_id) REFERENCES fields(workspace_id, id) ON DELETE CASCADE
);

create table field_numbers (
  workspace_id uuid not null,
  field_id uuid not null,
  period text not null,
  next bigint not null,
  constraint field_numbers_pkey PRIMARY KEY (workspace_id, field_id, period),
  constraint field_numbers_workspace_id_field_id_fkey FOREIGN KEY (workspace_id, field_id) REFERENCES fields(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table field_uses (
  workspace_id uuid not null,
  field_id uuid not null,
  use text not null,
  score double precision not null,
  used_at timestamp with time zone not null,
  lead_field_id uuid generated always as ((NULLIF(split_part(use, ':'::text, 2), ''::text))::uuid) stored,
  constraint field_uses_pkey PRIMARY KEY (workspace_id, field_id, use),
  constraint field_uses_workspace_id_field_id_fkey FOREIGN KEY (workspace_id, field_id) REFERENCES fields(workspace_id, id) ON DELETE CASCADE,
  constraint field_uses_workspace_id_lead_field_id_fkey FOREIGN KEY (workspace_id, lead_field_id) REFERENCES fields(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table fields (
  workspace_id uuid not null,
  id uuid not null,
  type_id uuid not null,
  key text not null,
  label text not null,
  type text not null,
  required boolean default false not null,
  is_unique boolean default false not null,
  immutable boolean default false not null,
  autogen text default ''::text not null,
  description text default ''::text not null,
  rules jsonb default '{}'::jsonb not null,
  system boolean default false not null,
  column_name text not null,
  stale_reads text[],
  "position" bigint generated always as identity not null,
  created_at timestamp with time zone default now() not null,
  revision bigint default nextval('field_revisions'::regclass) not null,
  constraint fields_key UNIQUE (workspace_id, type_id, key),
  constraint fields_pkey PRIMARY KEY (workspace_id, id),
  constraint fields_workspace_id_type_id_fkey FOREIGN KEY (workspace_id, type_id) REFERENCES record_types(workspace_id, id) ON DELETE CASCADE
);

create table file_usage (
  workspace_id uuid not null,
  total_bytes bigint not null,
  constraint file_usage_pkey PRIMARY KEY (workspace_id),
  constraint file_usage_total_bytes_check CHECK ((total_bytes >= 0)),
  constraint file_usage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table flow_drafts (
  workspace_id uuid not null,
  day date not null,
  drafts integer not null,
  constraint flow_drafts_pkey PRIMARY KEY (workspace_id, day),
  constraint flow_drafts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table flow_outputs (
  workspace_id uuid not null,
  run_id uuid not null,
  node_id text not null,
  iteration text not null,
  output json not null,
  created_at timestamp with time zone not null,
  constraint flow_outputs_pkey PRIMARY KEY (workspace_id, run_id, node_id, iteration),
  constraint flow_outputs_workspace_id_run_id_fkey FOREIGN KEY (workspace_id, run_id) REFERENCES flow_runs(workspace_id, id) ON DELETE CASCADE
);

create table flow_runs (
  workspace_id uuid not null,
  id uuid not null,
  flow_id uuid not null,
  flow_name text not null,
  version integer not null,
  editor_id uuid not null,
  is_personal boolean default false not null,
  status text default 'queued'::text not null,
  trigger json not null,
  input json not null,
  trigger_visibility json,
  trigger_key text not null,
  request_id text,
  depth integer not null,
  retry_of uuid,
  revision integer default 0 not null,
  steps integer default 0 not null,
  state json,
  waiting json,
  job_id uuid,
  revived integer default 0 not null,
  error json,
  created_at timestamp with time zone not null,
  touched_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  is_filed boolean default false not null,
  constraint flow_runs_check CHECK (((finished_at IS NULL) = (status = ANY (ARRAY['queued'::text, 'running'::text])))),
  constraint flow_runs_pkey PRIMARY KEY (workspace_id, id),
  constraint flow_runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'ok'::text, 'failed'::text, 'cancelled'::text]))),
  constraint flow_runs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table flow_skips (
  workspace_id uuid not null,
  flow_id uuid not null,
  hour timestamp with time zone not null,
  share smallint not null,
  skipped integer not null,
  constraint flow_skips_pkey PRIMARY KEY (workspace_id, hour, flow_id, share),
  constraint flow_skips_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table flow_steps (
  workspace_id uuid not null,
  run_id uuid not null,
  node_id text not null,
  iteration text not null,
  place integer not null,
  node_type text not null,
  status text not null,
  output json,
  is_cut boolean default false not null,
  input_hash text,
  error json,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  type_revision bigint,
  constraint flow_steps_pkey PRIMARY KEY (workspace_id, run_id, node_id, iteration),
  constraint flow_steps_status_check CHECK ((status = ANY (ARRAY['ok'::text, 'failed'::text]))),
  constraint flow_steps_workspace_id_run_id_fkey FOREIGN KEY (workspace_id, run_id) REFERENCES flow_runs(workspace_id, id) ON DELETE CASCADE
);

create table flow_versions (
  workspace_id uuid not null,
  flow_id uuid not null,
  version integer not null,
  nodes json not null,
  edges json not null,
  context json not null,
  editor_id uuid not null,
  created_at timestamp with time zone not null,
  constraint flow_versions_pkey PRIMARY KEY (workspace_id, flow_id, version),
  constraint flow_versions_workspace_id_flow_id_fkey FOREIGN KEY (workspace_id, flow_id) REFERENCES flows(workspace_id, id) ON DELETE CASCADE
);

create table flows (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text default ''::text not null,
  enabled boolean default false not null,
  version integer default 1 not null,
  positions json default '{}'::json not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint flows_pkey PRIMARY KEY (workspace_id, id),
  constraint flows_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table form_submissions (
  workspace_id uuid not null,
  form_id uuid not null,
  id uuid not null,
  visitor_key text,
  "values" json not null,
  spam text,
  state text not null,
  record_id uuid,
  run_id uuid,
  error text,
  created_at timestamp with time zone default now() not null,
  constraint form_submissions_error CHECK (((state = 'failed'::text) = (error IS NOT NULL))),
  constraint form_submissions_form FOREIGN KEY (workspace_id, form_id) REFERENCES forms(workspace_id, id) ON DELETE CASCADE,
  constraint form_submissions_pkey PRIMARY KEY (workspace_id, form_id, id),
  constraint form_submissions_spam CHECK (((spam IS NULL) OR (state = 'kept'::text))),
  constraint form_submissions_state_check CHECK ((state = ANY (ARRAY['kept'::text, 'waiting'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

create table forms (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  name text not null,
  description text not null,
  fields json not null,
  settings json not null,
  object_type text,
  function_id uuid,
  published boolean not null,
  edited_by uuid,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint forms_key UNIQUE (workspace_id, key),
  constraint forms_pkey PRIMARY KEY (workspace_id, id),
  constraint forms_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table function_runs (
  workspace_id uuid not null,
  id uuid not null,
  function_id uuid not null,
  version integer not null,
  parent_id uuid,
  actor_id uuid,
  actor_type text not null,
  request_id text not null,
  ending text not null,
  error text,
  logs json not null,
  steps json not null,
  result_bytes integer not null,
  duration_ms integer not null,
  finished_at timestamp with time zone default now() not null,
  constraint function_runs_ending_check CHECK ((ending = ANY (ARRAY['returned'::text, 'threw'::text, 'timed_out'::text, 'out_of_memory'::text, 'interrupted'::text]))),
  constraint function_runs_pkey PRIMARY KEY (workspace_id, id),
  constraint function_runs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table function_secrets (
  workspace_id uuid not null,
  name text not null,
  value bytea not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint function_secrets_pkey PRIMARY KEY (workspace_id, name),
  constraint function_secrets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table function_versions (
  workspace_id uuid not null,
  function_id uuid not null,
  version integer not null,
  source text not null,
  author_id uuid not null,
  created_at timestamp with time zone default now() not null,
  constraint function_versions_pkey PRIMARY KEY (workspace_id, function_id, version),
  constraint function_versions_workspace_id_function_id_fkey FOREIGN KEY (workspace_id, function_id) REFERENCES functions(workspace_id, id) ON DELETE CASCADE
);

create table functions (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text default ''::text not null,
  source text not null,
  timeout_ms integer not null,
  enabled boolean default true not null,
  http_enabled boolean default false not null,
  author_id uuid not null,
  version integer default 1 not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint functions_pkey PRIMARY KEY (workspace_id, id),
  constraint functions_timeout_ms_check CHECK (((timeout_ms >= 100) AND (timeout_ms <= 30000))),
  constraint functions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table gated_jobs (
  id uuid not null,
  workspace_id uuid not null,
  gate text not null,
  queue text not null,
  slots smallint not null,
  priority smallint not null,
  "position" bigint generated always as identity not null,
  slot smallint,
  envelope jsonb,
  constraint gated_jobs_check CHECK (((slot >= 1) AND (slot <= slots))),
  constraint gated_jobs_pkey PRIMARY KEY (id),
  constraint gated_jobs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table idempotency_records (
  principal_id uuid not null,
  path text not null,
  key text not null,
  body_hash bytea,
  answer bytea,
  operation_id uuid,
  created_at timestamp with time zone default now() not null,
  constraint idempotency_records_pkey PRIMARY KEY (principal_id, path, key)
);

create table invitations (
  workspace_id uuid not null,
  id uuid not null,
  email text not null,
  role_ids uuid[] not null,
  invited_by uuid,
  token_hash bytea not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint invitations_pkey PRIMARY KEY (workspace_id, id),
  constraint invitations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table job_counts (
  job text not null,
  held integer not null,
  failed integer not null,
  given_up integer not null,
  constraint job_counts_pkey PRIMARY KEY (job)
);

create table job_failures (
  id uuid not null,
  is_letter boolean not null,
  created_at timestamp with time zone not null,
  job text not null,
  workspace_id uuid,
  principal_id uuid,
  request_id text not null,
  text text not null,
  constraint job_failures_pkey PRIMARY KEY (id)
);

create table job_figures (
  minute timestamp with time zone not null,
  job text not null,
  workspace_id uuid,
  done integer not null,
  failed integer not null,
  run_ms bigint not null,
  constraint job_figures_key UNIQUE NULLS NOT DISTINCT (workspace_id, job, minute)
);

create table job_files (
  workspace_id uuid not null,
  id uuid not null,
  content_type text not null,
  name text default ''::text not null,
  headers jsonb default '{}'::jsonb not null,
  size_bytes bigint not null,
  blob_id uuid not null,
  created_at timestamp with time zone default now() not null,
  constraint job_files_pkey PRIMARY KEY (workspace_id, id),
  constraint job_files_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table job_pauses (
  target text not null,
  name text not null,
  kinds text[] not null,
  paused_at timestamp with time zone default now() not null,
  constraint job_pauses_pkey PRIMARY KEY (target, name),
  constraint job_pauses_target_check CHECK ((target = ANY (ARRAY['kind'::text, 'pool'::text])))
);

create table job_times (
  minute timestamp with time zone not null,
  job text not null,
  step smallint not null,
  waited integer not null,
  ran integer not null,
  constraint job_times_pkey PRIMARY KEY (minute, job, step)
);

create table journal_entries (
  workspace_id uuid not null,
  id uuid not null,
  date date not null,
  memo text not null,
  source_type text not null,
  source_id text,
  currency text not null,
  total numeric(22,6) not null,
  line_count smallint not null,
  reverses uuid,
  deduplication_key text,
  created_by uuid,
  created_at timestamp with time zone not null,
  constraint journal_entries_line_count_check CHECK (((line_count >= 2) AND (line_count <= 200))),
  constraint journal_entries_memo_check CHECK ((char_length(memo) <= 500)),
  constraint journal_entries_pkey PRIMARY KEY (workspace_id, id),
  constraint journal_entries_posting UNIQUE (workspace_id, created_at, id, date, currency, line_count),
  constraint journal_entries_reversed FOREIGN KEY (workspace_id, reverses) REFERENCES journal_entries(workspace_id, id),
  constraint journal_entries_total_check CHECK ((total > (0)::numeric))
) with (autovacuum_vacuum_insert_threshold=10000, autovacuum_vacuum_insert_scale_factor=0.02);

create table journal_lines (
  workspace_id uuid not null,
  entry_id uuid not null,
  "position" smallint not null,
  id uuid not null,
  account_id uuid not null,
  debit numeric(19,6) not null,
  credit numeric(19,6) not null,
  memo text not null,
  date date not null,
  currency text not null,
  line_count smallint not null,
  created_at timestamp with time zone not null,
  constraint journal_lines_entry FOREIGN KEY (workspace_id, created_at, entry_id, date, currency, line_count) REFERENCES journal_entries(workspace_id, created_at, id, date, currency, line_count),
  constraint journal_lines_memo_check CHECK ((char_length(memo) <= 500)),
  constraint journal_lines_pkey PRIMARY KEY (workspace_id, entry_id, "position"),
  constraint journal_lines_place CHECK ((("position" >= 1) AND ("position" <= line_count))),
  constraint journal_lines_side CHECK ((((debit > (0)::numeric) AND (credit = (0)::numeric) AND (debit <= ('9223372036854'::bigint)::numeric)) OR ((credit > (0)::numeric) AND (debit = (0)::numeric) AND (credit <= ('9223372036854'::bigint)::numeric))))
) with (autovacuum_vacuum_insert_threshold=10000, autovacuum_vacuum_insert_scale_factor=0.02);

create table ledger_months (
  workspace_id uuid not null,
  currency text not null,
  account_id uuid not null,
  month date not null,
  debit numeric not null,
  credit numeric not null,
  constraint ledger_months_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint ledger_months_pkey PRIMARY KEY (workspace_id, currency, account_id, month)
);

create table ledger_months_until (
  workspace_id uuid not null,
  until timestamp with time zone not null,
  constraint ledger_months_until_pkey PRIMARY KEY (workspace_id)
);

create table ledger_seals (
  workspace_id uuid not null,
  "position" integer not null,
  id uuid not null,
  until timestamp with time zone not null,
  entries bigint not null,
  hash text not null,
  previous text,
  created_at timestamp with time zone not null,
  constraint ledger_seals_chain CHECK ((("position" = 1) = (previous IS NULL))),
  constraint ledger_seals_pkey PRIMARY KEY (workspace_id, "position"),
  constraint ledger_seals_position_check CHECK (("position" > 0))
);

create table mail_counts (
  only_row boolean default true not null,
  waiting integer not null,
  oldest timestamp with time zone,
  uncertain integer not null,
  failed_day integer not null,
  constraint mail_counts_only_row_check CHECK (only_row),
  constraint mail_counts_pkey PRIMARY KEY (only_row)
);

create table maintenance_runs (
  task text not null,
  began_at timestamp with time zone not null,
  ms integer not null,
  error text,
  constraint maintenance_runs_pkey PRIMARY KEY (task)
);

create table members (
  workspace_id uuid not null,
  user_id uuid not null,
  created_at timestamp with time zone default now() not null,
  constraint members_pkey PRIMARY KEY (workspace_id, user_id),
  constraint members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table message_connections (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  host text not null,
  port integer not null,
  secure boolean not null,
  username text not null,
  password bytea,
  from_address text not null,
  dkim_domain text,
  dkim_selector text,
  dkim_key bytea,
  webhook_secret bytea not null,
  status text default 'unchecked'::text not null,
  error text,
  checked_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint message_connections_check CHECK ((num_nulls(dkim_domain, dkim_selector, dkim_key) = ANY (ARRAY[0, 3]))),
  constraint message_connections_pkey PRIMARY KEY (workspace_id, id),
  constraint message_connections_port_check CHECK (((port >= 1) AND (port <= 65535))),
  constraint message_connections_status_check CHECK ((status = ANY (ARRAY['unchecked'::text, 'ok'::text, 'failed'::text]))),
  constraint message_connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table message_templates (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  subject text not null,
  body_text text not null,
  body_html text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  flow_references jsonb generated always as (template_flow_references(subject, body_text, body_html)) stored not null,
  constraint message_templates_pkey PRIMARY KEY (workspace_id, id),
  constraint message_templates_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table migrations (
  id integer default nextval('migrations_id_seq'::regclass) not null,
  name character varying(255),
  batch integer,
  migration_time timestamp with time zone,
  constraint migrations_pkey PRIMARY KEY (id)
);

create table migrations_lock (
  index integer default nextval('migrations_lock_index_seq'::regclass) not null,
  is_locked integer,
  constraint migrations_lock_pkey PRIMARY KEY (index)
);

create table modules (
  workspace_id uuid not null,
  slug text not null,
  name text not null,
  glyph text default ''::text not null,
  category text default ''::text not null,
  "position" double precision default 0 not null,
  constraint modules_pkey PRIMARY KEY (workspace_id, slug),
  constraint modules_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table notification_rules (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  object_type text not null,
  event text not null,
  title text not null,
  audience text default 'all_members'::text not null,
  enabled boolean default true not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  filter json,
  constraint notification_rules_audience_check CHECK ((audience = 'all_members'::text)),
  constraint notification_rules_event_check CHECK ((event = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text]))),
  constraint notification_rules_pkey PRIMARY KEY (workspace_id, id),
  constraint notification_rules_type FOREIGN KEY (workspace_id, object_type) REFERENCES record_types(workspace_id, key) ON DELETE CASCADE
);

create table notifications (
  workspace_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  key text,
  title text not null,
  object_type text,
  record_id uuid,
  event text not null,
  created_at timestamp with time zone generated always as (uuid_extract_timestamp(id)) virtual not null,
  read_at timestamp with time zone,
  constraint notifications_pkey PRIMARY KEY (workspace_id, user_id, id)
);

create table operations (
  id uuid not null,
  workspace_id uuid,
  kind text not null,
  job text not null,
  job_id uuid,
  principal_id uuid,
  request_id text not null,
  status text default 'queued'::text not null,
  progress json,
  checkpoint json,
  result json,
  error json,
  file_id uuid,
  awaits integer,
  continuation jsonb,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  awaits_part text,
  is_filed boolean default false not null,
  failure_answered_at timestamp with time zone,
  attempts jsonb default '[]'::jsonb not null,
  parent_id uuid,
  is_cancelled boolean default false not null,
  cause jsonb,
  constraint operations_pkey PRIMARY KEY (id),
  constraint operations_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'done'::text, 'failed'::text]))),
  constraint operations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
) with (autovacuum_vacuum_threshold=5000, autovacuum_vacuum_insert_threshold=5000, autovacuum_analyze_threshold=5000);

create table operator_log (
  id uuid not null,
  at timestamp with time zone default now() not null,
  operator_id uuid,
  operator text not null,
  action text not null,
  subject jsonb not null,
  count integer not null,
  constraint operator_log_count_check CHECK ((count > 0)),
  constraint operator_log_pkey PRIMARY KEY (id),
  constraint operator_log_subject_check CHECK ((jsonb_typeof(subject) = 'object'::text))
);

create table operator_sessions (
  id uuid not null,
  user_id uuid not null,
  token_hash bytea not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint operator_sessions_pkey PRIMARY KEY (id),
  constraint operator_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES operators(user_id) ON DELETE CASCADE
);

create table operators (
  user_id uuid not null,
  read_only boolean default false not null,
  created_at timestamp with time zone default now() not null,
  constraint operators_pkey PRIMARY KEY (user_id),
  constraint operators_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table outbox_mails (
  id uuid not null,
  workspace_id uuid,
  kind text not null,
  connection_id uuid,
  template_id uuid,
  record_type text,
  record_id uuid,
  deduplication_key text,
  recipient text not null,
  contact_keys text[],
  subject text not null,
  body_text text not null,
  body_html text,
  headers jsonb default '{}'::jsonb not null,
  calendar jsonb,
  status text default 'queued'::text not null,
  attempts integer default 0 not null,
  second_try boolean default false not null,
  last_error text,
  is_erased boolean default false not null,
  created_at timestamp with time zone default now() not null,
  sent_at timestamp with time zone,
  awaits_server boolean default false not null,
  cause jsonb,
  constraint outbox_mails_pkey PRIMARY KEY (id),
  constraint outbox_mails_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'uncertain'::text, 'failed'::text, 'bounced'::text, 'skipped'::text]))),
  constraint outbox_mails_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table password_resets (
  token_hash bytea not null,
  user_id uuid not null,
  expires_at timestamp with time zone not null,
  constraint password_resets_pkey PRIMARY KEY (token_hash),
  constraint password_resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table payment_connections (
  workspace_id uuid not null,
  id uuid not null,
  provider text not null,
  name text not null,
  mode text not null,
  redirect_url text,
  credentials bytea,
  status text default 'unchecked'::text not null,
  last_checked_at timestamp with time zone,
  last_error text,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint payment_connections_mode_check CHECK ((mode = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint payment_connections_pkey PRIMARY KEY (workspace_id, id),
  constraint payment_connections_provider_check CHECK ((provider = ANY (ARRAY['sandbox'::text, 'stripe'::text, 'razorpay'::text]))),
  constraint payment_connections_status_check CHECK ((status = ANY (ARRAY['unchecked'::text, 'ok'::text, 'failed'::text]))),
  constraint payment_connections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table payment_events (
  workspace_id uuid not null,
  connection_id uuid not null,
  event_key text not null,
  source text not null,
  body bytea not null,
  body_hash bytea not null,
  received_at timestamp with time zone not null,
  provider_link_id text,
  link_id uuid,
  constraint payment_events_pkey PRIMARY KEY (workspace_id, connection_id, event_key),
  constraint payment_events_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'sweep'::text]))),
  constraint payment_events_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES payment_connections(workspace_id, id) ON DELETE CASCADE
);

create table payment_links (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  provider text not null,
  provider_link_id text,
  short_url text default ''::text not null,
  amount numeric(20,6) not null,
  currency text not null,
  status text default 'created'::text not null,
  description text not null,
  invoice_id uuid,
  redirect_url text,
  customer_name text not null,
  customer_email text not null,
  customer_contact text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  created_by uuid,
  deduplication_key text not null,
  paid_at timestamp with time zone,
  payment_record_id uuid,
  constraint payment_links_amount_check CHECK ((amount > (0)::numeric)),
  constraint payment_links_deduplication_key UNIQUE (workspace_id, deduplication_key),
  constraint payment_links_paid CHECK (((status = 'paid'::text) = (paid_at IS NOT NULL))),
  constraint payment_links_pkey PRIMARY KEY (workspace_id, id),
  constraint payment_links_status_check CHECK ((status = ANY (ARRAY['created'::text, 'paid'::text, 'cancelled'::text, 'expired'::text]))),
  constraint payment_links_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES payment_connections(workspace_id, id) ON DELETE CASCADE
);

create table payment_sweeps (
  workspace_id uuid not null,
  connection_id uuid not null,
  polled_until timestamp with time zone not null,
  constraint payment_sweeps_pkey PRIMARY KEY (workspace_id, connection_id),
  constraint payment_sweeps_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES payment_connections(workspace_id, id) ON DELETE CASCADE
);

create table payment_timeline (
  workspace_id uuid not null,
  link_id uuid not null,
  id uuid default uuidv7() not null,
  at timestamp with time zone not null,
  source text not null,
  provider_event_id text,
  provider_payment_id text,
  before text,
  after text not null,
  verdict text not null,
  constraint payment_timeline_pkey PRIMARY KEY (workspace_id, link_id, id),
  constraint payment_timeline_source_check CHECK ((source = ANY (ARRAY['person'::text, 'webhook'::text, 'refresh'::text, 'sweep'::text]))),
  constraint payment_timeline_workspace_id_link_id_fkey FOREIGN KEY (workspace_id, link_id) REFERENCES payment_links(workspace_id, id) ON DELETE CASCADE
);

create table processes (
  id uuid not null,
  kind text not null,
  pools text[] not null,
  host text not null,
  pid integer not null,
  release text not null,
  started_at timestamp with time zone not null,
  heartbeat_at timestamp with time zone not null,
  skew_ms integer not null,
  memory_bytes bigint not null,
  running jsonb not null,
  constraint processes_pkey PRIMARY KEY (id)
);

create table provider_payments (
  workspace_id uuid not null,
  connection_id uuid not null,
  provider_payment_id text not null,
  link_id uuid,
  amount numeric(20,6),
  currency text,
  paid_at timestamp with time zone,
  payer_name text default ''::text not null,
  payer_email text default ''::text not null,
  fits boolean default false not null,
  late boolean default false not null,
  refunded numeric(20,6) default 0 not null,
  disputed boolean default false not null,
  recorded_at timestamp with time zone,
  payment_record_id uuid,
  created_at timestamp with time zone not null,
  constraint provider_payments_pkey PRIMARY KEY (workspace_id, connection_id, provider_payment_id),
  constraint provider_payments_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES payment_connections(workspace_id, id) ON DELETE CASCADE
);

create table queue_counts (
  workspace_id uuid not null,
  queue_id uuid not null,
  batch text not null,
  stage text not null,
  status text not null,
  unexpected boolean not null,
  share smallint not null,
  items bigint not null,
  constraint queue_counts_pkey PRIMARY KEY (workspace_id, queue_id, batch, stage, status, unexpected, share),
  constraint queue_counts_workspace_id_queue_id_fkey FOREIGN KEY (workspace_id, queue_id) REFERENCES queues(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table queue_history (
  workspace_id uuid not null,
  queue_id uuid not null,
  id uuid default uuidv7() not null,
  item_id uuid,
  key text not null,
  kind text not null,
  from_stage text,
  to_stage text,
  status text,
  verdict text,
  payload json,
  version integer,
  facts jsonb not null,
  previous_claimer_id uuid,
  previous_claim_until timestamp with time zone,
  scan_id text,
  scanned_at timestamp with time zone,
  station text,
  event_id uuid,
  actor_id uuid,
  actor_type text not null,
  note text not null,
  created_at timestamp with time zone not null,
  constraint queue_history_kind_check CHECK ((kind = ANY (ARRAY['added'::text, 'moved'::text, 'claimed'::text, 'released'::text, 'expired'::text, 'edited'::text, 'deleted'::text, 'button'::text, 'scanned'::text, 'cancelled'::text]))),
  constraint queue_history_pkey PRIMARY KEY (workspace_id, queue_id, id),
  constraint queue_history_version CHECK (((version IS NOT NULL) OR (kind = ANY (ARRAY['scanned'::text, 'button'::text]))))
);

create table queue_items (
  workspace_id uuid not null,
  queue_id uuid not null,
  id uuid default uuidv7() not null,
  key text not null,
  twin uuid not null,
  stage text not null,
  status text not null,
  open_stage text generated always as (
CASE
    WHEN (status = 'open'::text) THEN stage
    ELSE NULL::text
END) stored,
  priority integer not null,
  source text not null,
  batch text not null,
  record_id uuid,
  payload json not null,
  assignee_id text not null,
  due_at timestamp with time zone,
  claimed_by uuid,
  claim_token text,
  claim_expires_at timestamp with time zone,
  lapsed uuid[] default '{}'::uuid[] not null,
  attempts integer default 0 not null,
  version integer default 1 not null,
  entered_stage_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint queue_items_claim CHECK ((((claimed_by IS NULL) = (claim_token IS NULL)) AND ((claimed_by IS NULL) = (claim_expires_at IS NULL)))),
  constraint queue_items_closed CHECK ((((closed_at IS NULL) = (status = 'open'::text)) AND ((status = 'open'::text) OR (claimed_by IS NULL)))),
  constraint queue_items_payload CHECK ((json_typeof(payload) = 'object'::text)),
  constraint queue_items_pkey PRIMARY KEY (workspace_id, queue_id, id),
  constraint queue_items_source_check CHECK ((source = ANY (ARRAY['manual'::text, 'scan'::text, 'import'::text, 'intake'::text, 'function'::text]))),
  constraint queue_items_stage FOREIGN KEY (workspace_id, queue_id, open_stage) REFERENCES queue_stages(workspace_id, queue_id, key),
  constraint queue_items_status_check CHECK ((status = ANY (ARRAY['open'::text, 'done'::text, 'failed'::text, 'cancelled'::text])))
);

create table queue_stages (
  workspace_id uuid not null,
  queue_id uuid not null,
  key text not null,
  constraint queue_stages_pkey PRIMARY KEY (workspace_id, queue_id, key),
  constraint queue_stages_workspace_id_queue_id_fkey FOREIGN KEY (workspace_id, queue_id) REFERENCES queues(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table queues (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  name text not null,
  object_type text,
  enabled boolean not null,
  stages json not null,
  intake json not null,
  settings json not null,
  editor_id uuid,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint queues_pkey PRIMARY KEY (workspace_id, id),
  constraint queues_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create unlogged table rate_limits (
  key text not null,
  points integer default 0 not null,
  expire bigint,
  constraint rate_limits_pkey PRIMARY KEY (key)
);

create table record_counts (
  workspace_id uuid not null,
  type_id uuid not null,
  share smallint not null,
  records bigint not null,
  constraint record_counts_pkey PRIMARY KEY (workspace_id, type_id, share),
  constraint record_counts_type FOREIGN KEY (workspace_id, type_id) REFERENCES record_types(workspace_id, id) ON DELETE CASCADE
) with (fillfactor=50);

create table record_types (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  label text not null,
  icon text default ''::text not null,
  app text default ''::text not null,
  ui text default '{}'::text not null,
  description text default ''::text not null,
  system boolean default false not null,
  column_count integer default 0 not null,
  edition integer default 1 not null,
  long_records boolean default false not null,
  "position" bigint generated always as identity not null,
  created_at timestamp with time zone default now() not null,
  constraint record_types_key UNIQUE (workspace_id, key),
  constraint record_types_pkey PRIMARY KEY (workspace_id, id),
  constraint record_types_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table restored_copy (
  is_only boolean default true not null,
  identity text not null,
  restored_at timestamp with time zone default now() not null,
  live_at timestamp with time zone,
  constraint restored_copy_is_only_check CHECK (is_only),
  constraint restored_copy_pkey PRIMARY KEY (is_only)
);

create table role_members (
  workspace_id uuid not null,
  role_id uuid not null,
  principal_id uuid not null,
  created_at timestamp with time zone default now() not null,
  constraint role_members_pkey PRIMARY KEY (workspace_id, role_id, principal_id),
  constraint role_members_workspace_id_role_id_fkey FOREIGN KEY (workspace_id, role_id) REFERENCES roles(workspace_id, id) ON DELETE CASCADE
);

create table roles (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text default ''::text not null,
  policy jsonb not null,
  is_anonymous boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  policy_bytes integer generated always as (compact_json_bytes(policy)) stored not null,
  constraint roles_pkey PRIMARY KEY (workspace_id, id),
  constraint roles_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table sandbox_links (
  workspace_id uuid not null,
  connection_id uuid not null,
  id uuid not null,
  amount numeric(20,6) not null,
  currency text not null,
  description text not null,
  customer_name text not null,
  customer_email text not null,
  redirect_url text,
  active boolean default true not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint sandbox_links_pkey PRIMARY KEY (workspace_id, id),
  constraint sandbox_links_workspace_id_connection_id_fkey FOREIGN KEY (workspace_id, connection_id) REFERENCES payment_connections(workspace_id, id) ON DELETE CASCADE
);

create table sandbox_payments (
  workspace_id uuid not null,
  connection_id uuid not null,
  id text not null,
  link_id uuid not null,
  outcome text not null,
  payer_name text not null,
  payer_email text not null,
  created_at timestamp with time zone not null,
  constraint sandbox_payments_outcome_check CHECK ((outcome = ANY (ARRAY['paid'::text, 'declined'::text]))),
  constraint sandbox_payments_pkey PRIMARY KEY (workspace_id, id),
  constraint sandbox_payments_workspace_id_link_id_fkey FOREIGN KEY (workspace_id, link_id) REFERENCES sandbox_links(workspace_id, id) ON DELETE CASCADE
);

create table secret_keys (
  id uuid not null,
  state text not null,
  check_sealed bytea not null,
  link_key_sealed bytea,
  since timestamp with time zone default now() not null,
  constraint secret_keys_check CHECK (((state = 'retired'::text) = (link_key_sealed IS NOT NULL))),
  constraint secret_keys_pkey PRIMARY KEY (id),
  constraint secret_keys_state_check CHECK ((state = ANY (ARRAY['current'::text, 'next'::text, 'retired'::text])))
);

create table service_accounts (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  created_at timestamp with time zone default now() not null,
  constraint service_accounts_pkey PRIMARY KEY (workspace_id, id),
  constraint service_accounts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table sessions (
  id uuid not null,
  user_id uuid not null,
  token_hash bytea not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table site_content (
  workspace_id uuid not null,
  site_id uuid not null,
  path text not null,
  version uuid not null,
  published boolean not null,
  title text,
  body text,
  fields json,
  blob_id uuid,
  size_bytes bigint,
  content_type text,
  sha256 text,
  updated_at timestamp with time zone not null,
  constraint site_content_kind CHECK ((((num_nulls(title, body, fields) = 0) AND (num_nonnulls(blob_id, size_bytes, content_type, sha256) = 0)) OR ((num_nonnulls(title, body, fields) = 0) AND (num_nulls(blob_id, size_bytes, content_type, sha256) = 0) AND published))),
  constraint site_content_pkey PRIMARY KEY (workspace_id, site_id, path),
  constraint site_content_site FOREIGN KEY (workspace_id, site_id) REFERENCES sites(workspace_id, id) ON DELETE CASCADE
);

create table sites (
  workspace_id uuid not null,
  id uuid not null,
  key text not null,
  name text not null,
  published boolean not null,
  is_shared boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint sites_assets CHECK (((is_shared = (key = 'assets'::text)) AND (published OR (NOT is_shared)))),
  constraint sites_key UNIQUE (workspace_id, key),
  constraint sites_pkey PRIMARY KEY (workspace_id, id),
  constraint sites_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table users (
  id uuid not null,
  email text not null,
  name text not null,
  password_hash text not null,
  created_at timestamp with time zone default now() not null,
  shares_apart boolean default false not null,
  constraint users_pkey PRIMARY KEY (id)
);

create table waiting_deliveries (
  workspace_id uuid not null,
  id uuid default uuidv7() not null,
  source text default 'records'::text not null,
  object_type text not null,
  event text not null,
  entry_ids uuid[] not null,
  subject_ids uuid[] default '{}'::uuid[] not null,
  snapshots jsonb,
  listeners jsonb not null,
  cause jsonb not null,
  seq bigint,
  constraint waiting_deliveries_pkey PRIMARY KEY (workspace_id, id)
);

create table webhook_deliveries (
  workspace_id uuid not null,
  webhook_id uuid not null,
  id uuid default uuidv7() not null,
  event_seq bigint,
  event_id uuid not null,
  type text not null,
  status text default 'waiting'::text not null,
  tries integer default 0 not null,
  round integer default 0 not null,
  attempts jsonb default '[]'::jsonb not null,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint webhook_deliveries_event UNIQUE (workspace_id, webhook_id, event_seq),
  constraint webhook_deliveries_pkey PRIMARY KEY (workspace_id, webhook_id, id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text]))),
  constraint webhook_deliveries_waiting CHECK (((status = 'waiting'::text) = (next_attempt_at IS NOT NULL))),
  constraint webhook_deliveries_webhook FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhooks(workspace_id, id) ON DELETE CASCADE
);

create table webhooks (
  workspace_id uuid not null,
  id uuid not null,
  url text not null,
  description text not null,
  types text[] not null,
  object_type text,
  filter json,
  filter_keys text[] default '{}'::text[] not null,
  service_account_id uuid,
  maker_id uuid not null,
  status text default 'active'::text not null,
  failing_since timestamp with time zone,
  is_failure_reported boolean default false not null,
  last_delivery_at timestamp with time zone,
  next_attempt_at timestamp with time zone,
  secret_sealed bytea not null,
  previous_secret_sealed bytea,
  previous_secret_until timestamp with time zone,
  seen_seq bigint not null,
  queued_at timestamp with time zone,
  run_id uuid,
  run_until timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint webhooks_failing CHECK (((failing_since IS NOT NULL) = (status = 'failing'::text))),
  constraint webhooks_pkey PRIMARY KEY (workspace_id, id),
  constraint webhooks_previous CHECK (((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))),
  constraint webhooks_status_check CHECK ((status = ANY (ARRAY['active'::text, 'failing'::text, 'disabled'::text]))),
  constraint webhooks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table workspace_figures (
  minute timestamp with time zone not null,
  workspace_id uuid not null,
  calls integer not null,
  computing_ms bigint not null,
  database_ms bigint not null,
  jobs integer not null,
  job_ms bigint not null,
  constraint workspace_figures_pkey PRIMARY KEY (workspace_id, minute)
);

create table workspaces (
  id uuid not null,
  name text not null,
  status text default 'provisioning'::text not null,
  plan text not null,
  owner_id uuid not null,
  timezone text default 'UTC'::text not null,
  default_currency text default 'USD'::text not null,
  multi_currency boolean default false not null,
  books_closed_through date,
  apps jsonb default '{"queues": true, "calendar": true, "payments": true, "functions": true, "accounting": true}'::jsonb not null,
  builtin_version integer default 1 not null,
  color text,
  logo text,
  created_at timestamp with time zone default now() not null,
  share_id uuid not null,
  deleting_at timestamp with time zone,
  constraint workspace_color CHECK ((color ~ '^#[0-9a-fA-F]{6}$'::text)),
  constraint workspaces_deleting_rests CHECK (((deleting_at IS NULL) OR (status = 'suspended'::text))),
  constraint workspaces_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id),
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'paid'::text]))),
  constraint workspaces_status_check CHECK ((status = ANY (ARRAY['provisioning'::text, 'active'::text, 'suspended'::text])))
);

CREATE INDEX access_keys_account ON public.access_keys USING btree (workspace_id, service_account_id);

CREATE UNIQUE INDEX access_keys_secret_hash ON public.access_keys USING btree (secret_hash);

CREATE INDEX audit_entries_actor ON public.audit_entries USING btree (workspace_id, actor_id, id DESC);

CREATE INDEX audit_entries_cause ON public.audit_entries USING btree (workspace_id, cause_id, id) WHERE (cause_id IS NOT NULL);

CREATE INDEX audit_entries_record ON public.audit_entries USING btree (workspace_id, record_id, id DESC);

CREATE INDEX audit_entries_type ON public.audit_entries USING btree (workspace_id, object_type, id DESC);

CREATE INDEX blobs_idle ON public.blobs USING btree (idle_since) WHERE (idle_since IS NOT NULL);

CREATE UNIQUE INDEX bookings_request ON public.bookings USING btree (workspace_id, calendar_id, request_key) WHERE (request_key IS NOT NULL);

CREATE INDEX cache_invalidations_written_in ON public.cache_invalidations USING btree (written_in);

CREATE UNIQUE INDEX calendar_attendees_email ON public.calendar_attendees USING btree (workspace_id, event_id, lower(email));

CREATE UNIQUE INDEX calendar_attendees_token ON public.calendar_attendees USING btree (workspace_id, token_hash);

CREATE INDEX calendar_attendees_user ON public.calendar_attendees USING btree (workspace_id, user_id) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX calendar_events_deduplication_key ON public.calendar_events USING btree (workspace_id, deduplication_key) WHERE (deduplication_key IS NOT NULL);

CREATE INDEX calendar_events_extent ON public.calendar_events USING gist (workspace_id, calendar_id, extent);

CREATE INDEX calendar_events_record ON public.calendar_events USING btree (workspace_id, record_type, record_id) WHERE (record_id IS NOT NULL);

CREATE UNIQUE INDEX calendar_events_uid ON public.calendar_events USING btree (workspace_id, calendar_id, uid) WHERE (series_id IS NULL);

CREATE INDEX calendar_events_zones ON public.calendar_events USING btree (zone_release, COALESCE(upper(extent), 'infinity'::timestamp with time zone)) WHERE (start_at IS NOT NULL);

CREATE INDEX calendar_shares_of_user ON public.calendar_shares USING btree (workspace_id, user_id);

CREATE UNIQUE INDEX calendars_feed ON public.calendars USING btree (workspace_id, feed_hash) WHERE (feed_hash IS NOT NULL);

CREATE INDEX calendars_left ON public.calendars USING btree (left_at) WHERE (left_at IS NOT NULL);

CREATE INDEX calendars_owner ON public.calendars USING btree (workspace_id, owner_id) WHERE (owner_id IS NOT NULL);

CREATE UNIQUE INDEX calendars_primary ON public.calendars USING btree (workspace_id, owner_id) WHERE is_primary;

CREATE INDEX deferred_jobs_queue ON public.deferred_jobs USING btree (queue);

CREATE INDEX drive_objects_named ON public.drive_objects USING gin (space_id, lower((split_part(key, '/'::text, '-1'::integer) COLLATE pg_c_utf8)) gin_trgm_ops) WITH (gin_pending_list_limit='512') WHERE (blob_id IS NOT NULL);

CREATE INDEX drive_objects_named_short ON public.drive_objects USING gin (space_id, letter_pairs(lower((split_part(key, '/'::text, '-1'::integer) COLLATE pg_c_utf8)))) WITH (gin_pending_list_limit='512') WHERE (blob_id IS NOT NULL);

CREATE INDEX drive_objects_recent ON public.drive_objects USING btree (workspace_id, space_id, updated_at DESC, key DESC) WHERE (blob_id IS NOT NULL);

CREATE INDEX drive_shares_grantee ON public.drive_shares USING btree (workspace_id, grantee_id);

CREATE INDEX drive_shares_left ON public.drive_shares USING btree (left_at) WHERE (left_at IS NOT NULL);

CREATE INDEX drive_spaces_left ON public.drive_spaces USING btree (left_at) WHERE (left_at IS NOT NULL);

CREATE INDEX drive_spaces_owner ON public.drive_spaces USING btree (workspace_id, owner_id) WHERE (owner_id IS NOT NULL);

CREATE INDEX due_work_at ON public.due_work USING btree (at, id) WHERE (NOT held);

CREATE INDEX due_work_held ON public.due_work USING btree (workspace_id) WHERE held;

CREATE INDEX event_listeners_listener ON public.event_listeners USING btree (workspace_id, subscriber, listener_id);

CREATE INDEX events_of_calendars ON public.events USING btree (workspace_id, subject_id, seq) WHERE (type = ANY (ARRAY['calendar.event.created'::text, 'calendar.event.updated'::text, 'calendar.event.cancelled'::text, 'calendar.event.answered'::text, 'calendar.booked'::text]));

CREATE INDEX field_indexes_lead ON public.field_indexes USING btree (workspace_id, lead_field_id) WHERE (lead_field_id IS NOT NULL);

CREATE INDEX field_uses_lead ON public.field_uses USING btree (workspace_id, lead_field_id) WHERE (lead_field_id IS NOT NULL);

CREATE INDEX flow_drafts_day ON public.flow_drafts USING btree (day);

CREATE INDEX flow_outputs_created ON public.flow_outputs USING btree (created_at);

CREATE INDEX flow_runs_failed ON public.flow_runs USING btree (workspace_id, id DESC) WHERE (status = 'failed'::text);

CREATE INDEX flow_runs_filed ON public.flow_runs USING btree (workspace_id) WHERE (is_filed AND (status = 'queued'::text));

CREATE INDEX flow_runs_finished ON public.flow_runs USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX flow_runs_flow ON public.flow_runs USING btree (workspace_id, flow_id, id DESC);

CREATE UNIQUE INDEX flow_runs_once ON public.flow_runs USING btree (workspace_id, flow_id, trigger_key) WHERE (retry_of IS NULL);

CREATE INDEX flow_runs_open ON public.flow_runs USING btree (touched_at) WHERE (finished_at IS NULL);

CREATE UNIQUE INDEX flow_runs_retry ON public.flow_runs USING btree (workspace_id, retry_of) WHERE (retry_of IS NOT NULL);

CREATE INDEX flow_skips_hour ON public.flow_skips USING btree (hour);

CREATE UNIQUE INDEX form_submissions_visitor ON public.form_submissions USING btree (workspace_id, form_id, visitor_key) WHERE (visitor_key IS NOT NULL);

CREATE INDEX function_runs_finished ON public.function_runs USING btree (finished_at);

CREATE INDEX function_runs_function ON public.function_runs USING btree (workspace_id, function_id, id DESC);

CREATE INDEX gated_jobs_admitted ON public.gated_jobs USING btree (id) WHERE (slot IS NOT NULL);

CREATE UNIQUE INDEX gated_jobs_slot ON public.gated_jobs USING btree (workspace_id, gate, slot) WHERE (slot IS NOT NULL);

CREATE INDEX gated_jobs_waiting ON public.gated_jobs USING btree (workspace_id, gate, priority, "position") WHERE (slot IS NULL);

CREATE INDEX gated_jobs_waiting_kinds ON public.gated_jobs USING btree (workspace_id, gate, queue, priority, "position") WHERE (slot IS NULL);

CREATE INDEX idempotency_records_created ON public.idempotency_records USING btree (created_at);

CREATE UNIQUE INDEX invitations_email ON public.invitations USING btree (workspace_id, lower(email));

CREATE UNIQUE INDEX invitations_token_hash ON public.invitations USING btree (token_hash);

CREATE INDEX job_failures_created ON public.job_failures USING btree (created_at, id);

CREATE INDEX job_failures_job ON public.job_failures USING btree (job, created_at, id);

CREATE INDEX job_failures_principal ON public.job_failures USING btree (principal_id, created_at, id) WHERE (principal_id IS NOT NULL);

CREATE INDEX job_failures_request ON public.job_failures USING btree (request_id);

CREATE INDEX job_failures_text ON public.job_failures USING gin (text gin_trgm_ops);

CREATE INDEX job_failures_workspace ON public.job_failures USING btree (workspace_id, created_at, id);

CREATE INDEX job_figures_minute ON public.job_figures USING btree (minute);

CREATE INDEX job_files_created ON public.job_files USING btree (created_at);

CREATE INDEX journal_entries_date ON public.journal_entries USING btree (workspace_id, date, created_at, id) INCLUDE (currency);

CREATE UNIQUE INDEX journal_entries_deduplication_key ON public.journal_entries USING btree (workspace_id, deduplication_key) WHERE (deduplication_key IS NOT NULL);

CREATE INDEX journal_entries_of_currency ON public.journal_entries USING btree (workspace_id, currency, created_at, id);

CREATE INDEX journal_entries_payment ON public.journal_entries USING btree (workspace_id, source_id) WHERE ((source_type = 'payment'::text) AND (source_id IS NOT NULL));

CREATE UNIQUE INDEX journal_entries_reverses ON public.journal_entries USING btree (workspace_id, reverses) WHERE (reverses IS NOT NULL);

CREATE INDEX journal_lines_day ON public.journal_lines USING btree (workspace_id, currency, date) INCLUDE (account_id, debit, credit, created_at);

CREATE INDEX journal_lines_ledger ON public.journal_lines USING btree (workspace_id, account_id, currency, date, created_at, entry_id, "position") INCLUDE (debit, credit);

CREATE INDEX journal_lines_of_account ON public.journal_lines USING btree (workspace_id, account_id, created_at, entry_id);

CREATE INDEX journal_lines_posted ON public.journal_lines USING btree (workspace_id, created_at) INCLUDE (currency, date, account_id, debit, credit);

CREATE INDEX ledger_seals_until ON public.ledger_seals USING btree (workspace_id, until, "position");

CREATE INDEX members_user ON public.members USING btree (user_id);

CREATE UNIQUE INDEX message_connections_id ON public.message_connections USING btree (id);

CREATE INDEX notification_rules_type ON public.notification_rules USING btree (workspace_id, object_type);

CREATE UNIQUE INDEX notifications_key ON public.notifications USING btree (workspace_id, user_id, key) WHERE (key IS NOT NULL);

CREATE INDEX notifications_unread ON public.notifications USING btree (workspace_id, user_id, id DESC) WHERE (read_at IS NULL);

CREATE INDEX operations_cancelled ON public.operations USING btree (created_at, id) INCLUDE (job, workspace_id, principal_id, request_id) WHERE is_cancelled;

CREATE INDEX operations_created ON public.operations USING btree (created_at, id);

CREATE INDEX operations_filed ON public.operations USING btree (workspace_id, kind) WHERE (is_filed AND (status = 'queued'::text) AND (finished_at IS NULL));

CREATE INDEX operations_finished ON public.operations USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX operations_job ON public.operations USING btree (job, created_at, id) INCLUDE (workspace_id, status);

CREATE INDEX operations_open ON public.operations USING btree (status, created_at, id) WHERE (finished_at IS NULL);

CREATE INDEX operations_parent ON public.operations USING btree (parent_id) WHERE (parent_id IS NOT NULL);

CREATE INDEX operations_principal ON public.operations USING btree (principal_id, created_at, id) INCLUDE (job, workspace_id, status) WHERE (principal_id IS NOT NULL);

CREATE INDEX operations_request ON public.operations USING btree (request_id);

CREATE INDEX operations_workspace_created ON public.operations USING btree (workspace_id, created_at, id) INCLUDE (job, status);

CREATE INDEX operator_sessions_expires_at ON public.operator_sessions USING btree (expires_at);

CREATE UNIQUE INDEX operator_sessions_token_hash ON public.operator_sessions USING btree (token_hash);

CREATE INDEX operator_sessions_user ON public.operator_sessions USING btree (user_id);

CREATE INDEX outbox_mails_awaiting ON public.outbox_mails USING btree (workspace_id, connection_id) WHERE awaits_server;

CREATE INDEX outbox_mails_created ON public.outbox_mails USING btree (created_at);

CREATE UNIQUE INDEX outbox_mails_deduplication_key ON public.outbox_mails USING btree (workspace_id, deduplication_key) WHERE (deduplication_key IS NOT NULL);

CREATE INDEX outbox_mails_messages ON public.outbox_mails USING btree (workspace_id, id) WHERE (kind = 'message'::text);

CREATE INDEX outbox_mails_recipient ON public.outbox_mails USING btree (lower(recipient), created_at);

CREATE INDEX outbox_mails_records ON public.outbox_mails USING btree (workspace_id, record_id, id) WHERE (record_id IS NOT NULL);

CREATE INDEX outbox_mails_texts ON public.outbox_mails USING btree (created_at) WHERE ((kind = 'message'::text) AND (NOT is_erased));

CREATE INDEX outbox_mails_unsent ON public.outbox_mails USING btree (status, created_at) WHERE (status <> 'sent'::text);

CREATE INDEX outbox_mails_workspace ON public.outbox_mails USING btree (workspace_id, created_at);

CREATE INDEX password_resets_user ON public.password_resets USING btree (user_id);

CREATE INDEX payment_connections_id ON public.payment_connections USING btree (id);

CREATE INDEX payment_events_unmatched ON public.payment_events USING btree (workspace_id, connection_id, provider_link_id) WHERE ((link_id IS NULL) AND (provider_link_id IS NOT NULL));

CREATE INDEX payment_links_newest ON public.payment_links USING btree (workspace_id, created_at DESC, id DESC);

CREATE INDEX payment_links_open ON public.payment_links USING btree (workspace_id, connection_id, id) WHERE (status = 'created'::text);

CREATE INDEX payment_links_provider ON public.payment_links USING btree (workspace_id, connection_id, provider_link_id) WHERE (provider_link_id IS NOT NULL);

CREATE INDEX provider_payments_link ON public.provider_payments USING btree (workspace_id, link_id) WHERE (link_id IS NOT NULL);

CREATE INDEX provider_payments_record ON public.provider_payments USING btree (workspace_id, payment_record_id) WHERE (payment_record_id IS NOT NULL);

CREATE UNIQUE INDEX queue_history_event ON public.queue_history USING btree (workspace_id, queue_id, event_id) WHERE ((event_id IS NOT NULL) AND (kind = 'added'::text));

CREATE INDEX queue_history_keys ON public.queue_history USING gin (queue_id, lower((key COLLATE pg_c_utf8)) gin_trgm_ops) WITH (gin_pending_list_limit='512') WHERE (kind = 'added'::text);

CREATE INDEX queue_history_of_item ON public.queue_history USING btree (workspace_id, queue_id, item_id, id) WHERE (item_id IS NOT NULL);

CREATE UNIQUE INDEX queue_history_scan ON public.queue_history USING btree (workspace_id, queue_id, scan_id) WHERE (scan_id IS NOT NULL);

CREATE INDEX queue_history_short_keys ON public.queue_history USING gin (queue_id, letter_pairs(lower((key COLLATE pg_c_utf8)))) WITH (gin_pending_list_limit='512') WHERE (kind = 'added'::text);

CREATE INDEX queue_items_by_key ON public.queue_items USING btree (workspace_id, queue_id, key, id) WHERE (status <> 'open'::text);

CREATE INDEX queue_items_due ON public.queue_items USING btree (workspace_id, queue_id, due_at) WHERE ((status = 'open'::text) AND (due_at IS NOT NULL));

CREATE INDEX queue_items_ended ON public.queue_items USING btree (workspace_id, queue_id, stage, closed_at DESC, id DESC) WHERE (status <> 'open'::text);

CREATE INDEX queue_items_entered ON public.queue_items USING btree (workspace_id, queue_id, stage, entered_stage_at) WHERE (status = 'open'::text);

CREATE INDEX queue_items_in_stage ON public.queue_items USING btree (workspace_id, queue_id, stage, priority DESC, id) WHERE (status = 'open'::text);

CREATE INDEX queue_items_of_assignee ON public.queue_items USING btree (workspace_id, queue_id, assignee_id, id) WHERE (assignee_id <> ''::text);

CREATE INDEX queue_items_of_batch ON public.queue_items USING btree (workspace_id, queue_id, batch, id) WHERE (batch <> ''::text);

CREATE INDEX queue_items_of_record ON public.queue_items USING btree (workspace_id, record_id, queue_id, id) WHERE (record_id IS NOT NULL);

CREATE UNIQUE INDEX queue_items_open_key ON public.queue_items USING btree (workspace_id, queue_id, key, twin) WHERE (status = 'open'::text);

CREATE INDEX queue_items_waiting ON public.queue_items USING btree (workspace_id, queue_id, priority DESC, id) WHERE (status = 'open'::text);

CREATE UNIQUE INDEX queues_key ON public.queues USING btree (workspace_id, key) WHERE (deleted_at IS NULL);

CREATE INDEX rate_limits_expire ON public.rate_limits USING btree (expire);

CREATE INDEX role_members_principal ON public.role_members USING btree (workspace_id, principal_id);

CREATE INDEX sandbox_payments_link ON public.sandbox_payments USING btree (workspace_id, link_id, id);

CREATE UNIQUE INDEX sandbox_payments_paid ON public.sandbox_payments USING btree (workspace_id, link_id) WHERE (outcome = 'paid'::text);

CREATE INDEX sandbox_payments_since ON public.sandbox_payments USING btree (workspace_id, connection_id, created_at, id);

CREATE UNIQUE INDEX secret_keys_one ON public.secret_keys USING btree (state) WHERE (state <> 'retired'::text);

CREATE UNIQUE INDEX sessions_token_hash ON public.sessions USING btree (token_hash);

CREATE INDEX sessions_user ON public.sessions USING btree (user_id);

CREATE UNIQUE INDEX users_email ON public.users USING btree (lower(email));

CREATE INDEX webhook_deliveries_again ON public.webhook_deliveries USING btree (workspace_id, webhook_id, next_attempt_at) WHERE ((status = 'waiting'::text) AND (tries > 0));

CREATE INDEX webhook_deliveries_first ON public.webhook_deliveries USING btree (workspace_id, webhook_id, event_seq) WHERE ((status = 'waiting'::text) AND (tries = 0));

CREATE INDEX webhook_deliveries_old ON public.webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_open ON public.webhook_deliveries USING btree (workspace_id, webhook_id, status, id) WHERE (status <> 'delivered'::text);

CREATE INDEX webhooks_accounts ON public.webhooks USING btree (workspace_id, service_account_id) WHERE (service_account_id IS NOT NULL);

CREATE INDEX webhooks_enabled ON public.webhooks USING btree (workspace_id) WHERE (status <> 'disabled'::text);

CREATE INDEX webhooks_failing_since ON public.webhooks USING btree (failing_since) WHERE (failing_since IS NOT NULL);

CREATE INDEX webhooks_makers ON public.webhooks USING btree (workspace_id, maker_id);

CREATE INDEX webhooks_queued ON public.webhooks USING btree (queued_at) WHERE (queued_at IS NOT NULL);

CREATE INDEX workspace_figures_minute ON public.workspace_figures USING btree (minute);

CREATE INDEX workspaces_builtin_version ON public.workspaces USING btree (builtin_version, id);

CREATE INDEX workspaces_owner ON public.workspaces USING btree (owner_id);

CREATE INDEX workspaces_share ON public.workspaces USING btree (share_id, id);

create view event_outbox as
 SELECT workspace_id,
    id,
    source,
    object_type,
    event,
    entry_ids,
    subject_ids,
    snapshots,
    listeners,
    cause
   FROM waiting_deliveries;

CREATE OR REPLACE FUNCTION public.add_calendar_state()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into calendar_states (workspace_id, calendar_id) values (new.workspace_id, new.id);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.admit_jobs(workspace uuid, gate_name text)
 RETURNS boolean
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
    declare
      paused text[];
      oldest uuid[];
    begin
      if not exists (select from gated_jobs where workspace_id = workspace and gate = gate_name and slot is null) then
        return false;
      end if;
      perform set_config('synchronous_commit', 'off', true);
      perform pg_advisory_xact_lock(hashtextextended(gate_name || ' ' || workspace, 0));
      paused := paused_kinds();
      if paused = '{}' then
        oldest := array(
          select id from gated_jobs
          where workspace_id = workspace and gate = gate_name and slot is null order by priority, position limit 32
        );
      else
        with unfetched as (
          delete from pgboss.job as job
          using (
            select id, queue from gated_jobs
            where workspace_id = workspace and gate = gate_name and slot is not null and queue = any(paused)
          ) as held
          where job.name = held.queue and job.id = held.id and job.state < 'active'
          returning job.id, job.data
        )
        update gated_jobs as job set slot = null, envelope = (select data from unfetched where unfetched.id = job.id)
        where id = any(array(select id from unfetched));
        oldest := list_unpaused_at_gate(workspace, gate_name, paused);
      end if;
      -- By their ids alone: with a condition on the slot, an outdated plan read the index of all waiting jobs.
      with waiting as (
        select id, slots, row_number() over (order by priority, position) as rank from gated_jobs where id = any(oldest)
      ),
      free as (
        select number, row_number() over (order by number) as rank
        from generate_series(1, (select slots from waiting where rank = 1)) as number
        where number not in (select slot from gated_jobs where workspace_id = workspace and gate = gate_name and slot is not null)
      ),
      assigned as materialized (select id, number from waiting join free using (rank)),
      admitted as (
        update gated_jobs as job set slot = (select number from assigned where assigned.id = job.id), envelope = null
        where id = any(array(select id from assigned))
        returning job.id, job.queue, job.workspace_id, old.envelope
      )
      insert into pgboss.job (
        id, name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
        retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
      )
      select admitted.id, queue.name, admitted.envelope, admitted.workspace_id, pgboss.job_now(), pgboss.job_now(),
        pgboss.job_now() + queue.retention_seconds * interval '1s', queue.expire_seconds, queue.deletion_seconds,
        queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max, queue.policy, queue.dead_letter,
        queue.heartbeat_seconds
      from admitted join pgboss.queue as queue on queue.name = admitted.queue;
      return found;
    end $function$;

CREATE OR REPLACE FUNCTION public.announce_failed_job()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into event_inbox (workspace_id, event_id, type, source, event, topic, subject_id, subject, snapshot, cause)
      select new.workspace_id, uuidv7(), 'jobs.failed', 'jobs', 'failed', '', new.id, jsonb_build_object('id', new.id),
        jsonb_build_object('kind', new.kind, 'status', 'failed', 'code', coalesce(new.error ->> 'code', 'INTERNAL')),
        coalesce(new.cause, jsonb_build_object(
          'actorId', new.principal_id, 'requestId', new.request_id, 'depth', 0,
          'actorType', case
            when new.principal_id is null then 'system'
            when exists (select from service_accounts where workspace_id = new.workspace_id and id = new.principal_id) then 'service'
            else 'user' end
        ))
      from feed_heads where workspace_id = new.workspace_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.check_book_settings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform pg_advisory_xact_lock(hashtextextended('ledger ' || new.id, 0));
      if new.default_currency <> old.default_currency and not new.multi_currency
        and exists (select from journal_entries where workspace_id = new.id) then
        raise exception 'the books of workspace % are kept in %', new.id, old.default_currency
          using errcode = 'check_violation', constraint = 'workspaces_books_currency', table = 'workspaces';
      end if;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.clear_notifications()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      member members := case when tg_op = 'DELETE' then old else new end;
    begin
      delete from notifications where workspace_id = member.workspace_id and user_id = member.user_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.compact_json_bytes(document jsonb)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
      select octet_length(document::text)
        - length(regexp_replace(regexp_replace(document::text, '"(\\.|[^"\\])*"', '', 'g'), '[^ ]', '', 'g'))
    $function$;

CREATE OR REPLACE FUNCTION public.count_drive_objects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'INSERT' then
        insert into drive_totals as total
        select workspace_id, space_id, content_type, count(*), sum(size_bytes) from gained where blob_id is not null
        group by 1, 2, 3 order by 1, 2, 3
        on conflict (workspace_id, space_id, content_type)
          do update set files = total.files + excluded.files, bytes = total.bytes + excluded.bytes;
      elsif tg_op = 'DELETE' then
        update drive_totals as total set files = total.files - gone.files, bytes = total.bytes - gone.bytes
        from (
          select workspace_id, space_id, content_type, count(*) as files, sum(size_bytes) as bytes from lost where blob_id is not null
          group by 1, 2, 3 order by 1, 2, 3
        ) as gone
        where total.workspace_id = gone.workspace_id and total.space_id = gone.space_id and total.content_type = gone.content_type;
      else
        insert into drive_totals as total
        select workspace_id, space_id, content_type, sum(files), sum(bytes) from (
          select workspace_id, space_id, content_type, 1 as files, size_bytes as bytes from gained where blob_id is not null
          union all
          select workspace_id, space_id, content_type, -1, -size_bytes from lost where blob_id is not null
        ) as moved
        group by 1, 2, 3 having sum(files) <> 0 or sum(bytes) <> 0 order by 1, 2, 3
        on conflict (workspace_id, space_id, content_type)
          do update set files = total.files + excluded.files, bytes = total.bytes + excluded.bytes;
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.disable_webhooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      gone uuid := (to_jsonb(old) ->> tg_argv[0])::uuid;
    begin
      update webhooks set status = 'disabled', failing_since = null, next_attempt_at = null, updated_at = now()
      where workspace_id = old.workspace_id and status <> 'disabled' and (service_account_id = gone or maker_id = gone);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.drop_role_members()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      delete from role_members where workspace_id = old.workspace_id and principal_id = (to_jsonb(old) ->> tg_argv[0])::uuid;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.end_operator_sessions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      delete from operator_sessions where user_id = new.id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.end_webhook_deliveries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update webhook_deliveries set status = 'failed', next_attempt_at = null
      where workspace_id = new.workspace_id and webhook_id = new.id and status = 'waiting';
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.enqueue_continuation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
    declare
      waiting uuid := (new.continuation ->> 'operation')::uuid;
      next_job uuid := uuidv7();
      left_over integer := 0;
    begin
      if waiting is not null then
        update operations set awaits = nullif(awaits - 1, 0), job_id = case when awaits = 1 then next_job else job_id end
        where id = waiting and awaits > 0 and finished_at is null
        returning coalesce(awaits, 0) into left_over;
        if not found or left_over > 0 then
          return null;
        end if;
      end if;
      insert into pgboss.job (
        id, name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
        retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
      )
      select next_job, queue.name, new.continuation -> 'envelope', new.continuation -> 'envelope' ->> 'workspaceId',
        pgboss.job_now(), pgboss.job_now(), pgboss.job_now() + queue.retention_seconds * interval '1s', queue.expire_seconds,
        queue.deletion_seconds, queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max, queue.policy,
        queue.dead_letter, queue.heartbeat_seconds
      from pgboss.queue as queue where queue.name = new.continuation ->> 'queue';
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.failure_text(code text, message text, attempt text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
      select lower(concat_ws(chr(31), code, message, nullif(attempt, message)))
    $function$;

CREATE OR REPLACE FUNCTION public.flow_references(body text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
      select (array_agg(name order by name))[1:10]
      from (
        select distinct found[1] as name
        from regexp_matches(body, '\{\{[ \t]*([A-Za-z0-9_.-]{1,200})[ \t]*\}\}', 'g') as found
      ) as names
      where split_part(name, '.', 1) in ('trigger', 'context', 'steps', 'item', 'index')
    $function$;

CREATE OR REPLACE FUNCTION public.follow_failure()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        delete from job_failures where id = old.id;
      elsif new.status = 'failed' and not new.is_cancelled then
        insert into job_failures (id, is_letter, created_at, job, workspace_id, principal_id, request_id, text)
        values (new.id, false, new.created_at, new.job, new.workspace_id, new.principal_id, new.request_id,
          failure_text(new.error ->> 'code', new.error ->> 'message', new.attempts -> -1 ->> 'error'))
        on conflict (id) do update set text = excluded.text;
      else
        delete from job_failures where id = new.id;
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.follow_letter()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        delete from job_failures where id = old.source_id and is_letter;
      else
        insert into job_failures (id, is_letter, created_at, job, workspace_id, principal_id, request_id, text)
        select new.source_id, true, coalesce(new.source_created_on, new.created_on), new.source_name, (new.data ->> 'workspaceId')::uuid,
          (new.data -> 'cause' ->> 'actorId')::uuid, coalesce(new.data -> 'cause' ->> 'requestId', ''),
          failure_text('INTERNAL', new.output ->> 'message', null)
        where not exists (select from operations where id = coalesce((new.data ->> 'operationId')::uuid, new.source_id))
        on conflict (id) do update set text = excluded.text;
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.follow_member_calendars()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        update calendars set left_at = now() where workspace_id = old.workspace_id and owner_id = old.user_id;
      else
        with back as (
          update calendars set left_at = null where workspace_id = new.workspace_id and owner_id = new.user_id and left_at is not null
          returning id
        )
        insert into due_work (workspace_id, kind, subject, at) select new.workspace_id, 'calendar', id::text, now() from back
        on conflict on constraint due_work_key do update set at = least(due_work.at, excluded.at);
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.follow_member_drives()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' then
        update drive_spaces set left_at = clock_timestamp() where workspace_id = old.workspace_id and owner_id = old.user_id;
        update drive_shares set left_at = clock_timestamp() where workspace_id = old.workspace_id and grantee_id = old.user_id;
      else
        update drive_spaces set left_at = null where workspace_id = new.workspace_id and owner_id = new.user_id and left_at is not null;
        update drive_shares set left_at = null where workspace_id = new.workspace_id and grantee_id = new.user_id and left_at is not null;
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.hold_blob()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'UPDATE' and new.blob_id is not distinct from old.blob_id then
        return null;
      end if;
      if tg_op <> 'INSERT' and old.blob_id is not null then
        update blobs set holders = holders - 1, idle_since = case when holders = 1 then clock_timestamp() end
        where workspace_id = old.workspace_id and id = old.blob_id;
      end if;
      if tg_op <> 'DELETE' and new.blob_id is not null then
        update blobs set holders = holders + 1, idle_since = null
        where workspace_id = new.workspace_id and id = new.blob_id and not doomed;
        if not found then
          raise exception 'blob % is not kept any more', new.blob_id using errcode = 'foreign_key_violation', constraint = 'blob_is_kept';
        end if;
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.invalidate_cache()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      scope text;
    begin
      scope := case when tg_op = 'DELETE' then to_jsonb(old) ->> tg_argv[0] else to_jsonb(new) ->> tg_argv[0] end;
      insert into cache_invalidations (scope) values (scope);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.invalidate_shares()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op <> 'INSERT' then
        insert into cache_invalidations (scope) values (old.share_id);
      end if;
      if tg_op <> 'DELETE' then
        insert into cache_invalidations (scope) values (new.share_id);
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.is_being_deleted(workspace uuid)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$select exists (select from workspaces where id = workspace and deleting_at is not null)$function$;

CREATE OR REPLACE FUNCTION public.keep_queue_history()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if tg_op = 'DELETE' and (is_being_deleted(old.workspace_id) or not exists (
        select from queues where workspace_id = old.workspace_id and id = old.queue_id and deleted_at is null
      )) then return old; end if;
      raise exception 'the history of a queue is only added to';
    end $function$;

CREATE OR REPLACE FUNCTION public.last_inbox_id()
 RETURNS bigint
 LANGUAGE sql
AS $function$select last_value from event_inbox_ids$function$;

CREATE OR REPLACE FUNCTION public.letter_pairs(content text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (string_to_array(content, NULL::text) || string_to_array(((regexp_replace(content, '(..)'::text, '\1'::text, 'g'::text) || ''::text) || regexp_replace(substr(content, 2), '(..)'::text, '\1'::text, 'g'::text)), ''::text));

CREATE OR REPLACE FUNCTION public.limit_notification_rules()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      perform pg_advisory_xact_lock(hashtextextended('notification_rules_cap' || new.workspace_id || new.object_type, 0));
      if (select count(*) from notification_rules where workspace_id = new.workspace_id and object_type = new.object_type) > 100 then
        raise exception 'a record type has at most 100 notification rules' using errcode = 'check_violation',
          constraint = 'notification_rules_cap';
      end if;
      return null;
    end
    $function$;

CREATE OR REPLACE FUNCTION public.limit_rows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      most bigint := tg_argv[0];
      present bigint;
    begin
      perform pg_advisory_xact_lock(hashtextextended(tg_name || new.workspace_id::text, 0));
      execute format('select count(*) from (select from %I where workspace_id = $1 and %s limit $2 + 1) as present', tg_table_name, tg_argv[1])
        into present using new.workspace_id, most;
      if present > most then
        raise exception 'a workspace has at most % rows of %', most, tg_table_name using errcode = 'check_violation', constraint = tg_name;
      end if;
      return null;
    end
    $function$;

CREATE OR REPLACE FUNCTION public.list_dispatch_workspaces(after uuid, at_most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
      with recursive listed as (
        (select workspace_id, 1 as place from waiting_deliveries where workspace_id > after order by workspace_id limit 1)
        union all
        select next.workspace_id, listed.place + 1
        from listed
        cross join lateral (
          select workspace_id from waiting_deliveries where workspace_id > listed.workspace_id order by workspace_id limit 1
        ) as next
        where listed.place < at_most
      )
      select workspace_id from listed
    $function$;

CREATE OR REPLACE FUNCTION public.list_inbox_workspaces(after uuid, at_most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
      with recursive listed as (
        (select workspace_id, 1 as place from event_inbox where workspace_id > after order by workspace_id limit 1)
        union all
        select next.workspace_id, listed.place + 1
        from listed
        cross join lateral (
          select workspace_id from event_inbox where workspace_id > listed.workspace_id order by workspace_id limit 1
        ) as next
        where listed.place < at_most
      )
      select workspace_id from listed
    $function$;

CREATE OR REPLACE FUNCTION public.list_unpaused_at_gate(workspace uuid, gate_name text, paused text[])
 RETURNS uuid[]
 LANGUAGE plpgsql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
    declare
      kind text := '';
      found_ids uuid[] := '{}';
    begin
      loop
        select queue into kind from gated_jobs
        where workspace_id = workspace and gate = gate_name and slot is null and queue > kind order by queue limit 1;
        exit when not found;
        continue when kind = any(paused);
        found_ids := found_ids || array(
          select id from gated_jobs
          where workspace_id = workspace and gate = gate_name and slot is null and queue >= kind and queue <= kind
          order by queue, priority, position limit 32
        );
      end loop;
      return found_ids;
    end $function$;

CREATE OR REPLACE FUNCTION public.make_feed_head()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into feed_heads (workspace_id) values (new.id);
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.notification_id(entry uuid, rule uuid, member uuid)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((("left"((entry)::text, 18) || '-8'::text) || substr(md5((((entry)::text || (rule)::text) || (member)::text)), 1, 15)))::uuid;

CREATE OR REPLACE FUNCTION public.open_ledger(workspace uuid, schema text, accounts uuid[])
 RETURNS TABLE(default_currency text, multi_currency boolean, books_closed_through date, posted_at timestamp with time zone, unknown_line integer)
 LANGUAGE plpgsql
AS $function$
    declare
      ledger bigint := hashtextextended('ledger ' || workspace, 0);
    begin
      -- The test takes a free lock without a query of its own. Waiting for the lock needs a query.
      if not pg_try_advisory_xact_lock_shared(ledger) then
        perform pg_advisory_xact_lock_shared(ledger);
      end if;
      if cardinality(accounts) > 0 then
        execute format(
          'select min(sent.position)::integer from unnest($1) with ordinality as sent (id, position)
           where not exists (select from %I.accounts as account where account.id = sent.id)', schema
        ) into unknown_line using accounts;
      end if;
      select book.default_currency, book.multi_currency, book.books_closed_through,
        greatest(
          clock_timestamp(),
          (select seal.until from ledger_seals as seal where seal.workspace_id = workspace order by seal.until desc, seal.position desc limit 1),
          (select kept.until from ledger_months_until as kept where kept.workspace_id = workspace)
        )
      into default_currency, multi_currency, books_closed_through, posted_at
      from workspaces as book where book.id = workspace;
      if found then return next; end if;
    end $function$;

CREATE OR REPLACE FUNCTION public.paused_kinds()
 RETURNS text[]
 LANGUAGE sql
 STABLE
RETURN (SELECT COALESCE(array_agg(kind.kind), '{}'::text[]) AS "coalesce" FROM job_pauses, LATERAL unnest(job_pauses.kinds) kind(kind));

CREATE OR REPLACE FUNCTION public.raise_calendar_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update calendar_states set version = version + 1 where workspace_id = new.workspace_id and calendar_id = new.id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.raise_calendar_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update calendar_states as state set version = version + 1
      from (select distinct workspace_id, calendar_id from changed) as calendar
      where state.workspace_id = calendar.workspace_id and state.calendar_id = calendar.calendar_id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception '% only grows', tg_table_name;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_removal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      if is_being_deleted(old.workspace_id) then return old; end if;
      raise exception '% only grows', tg_table_name;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_superseded_run()
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    begin
      raise exception 'the run was superseded' using errcode = 'KT001';
    end $function$;

CREATE OR REPLACE FUNCTION public.release_due_work()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      update due_work set held = false where workspace_id = new.id and held;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.release_gate_slot()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
    begin
      delete from gated_jobs where id = new.id;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.require_balance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    declare
      lines bigint;
      debits numeric;
      credits numeric;
    begin
      select count(*), sum(debit), sum(credit) into lines, debits, credits
      from journal_lines where workspace_id = new.workspace_id and entry_id = new.id;
      if lines <> new.line_count or debits is distinct from new.total or credits is distinct from new.total then
        raise exception 'entry % has % of % lines, debits of %, credits of % and a total of %',
          new.id, lines, new.line_count, debits, credits, new.total
          using errcode = 'check_violation', constraint = 'journal_entries_balance', table = 'journal_entries';
      end if;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.set_calendar_changed_at()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      new.changed_at := greatest(clock_timestamp(), old.changed_at);
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.set_workspace_share()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      select case when shares_apart then new.id else id end into new.share_id from users where id = new.owner_id for share;
      return new;
    end $function$;

CREATE OR REPLACE FUNCTION public.take_dispatches(known text[], workspaces uuid[], of_each integer)
 RETURNS SETOF waiting_deliveries
 LANGUAGE sql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
      delete from waiting_deliveries
      where ctid = any(array(
        select waiting.ctid
        from unnest(workspaces) as listed (workspace_id)
        cross join lateral (
          select waiting_deliveries.ctid from waiting_deliveries
          where waiting_deliveries.workspace_id = listed.workspace_id
            and not exists (select from jsonb_object_keys(listeners) as subscriber where subscriber <> all(known))
          order by id limit of_each
          for update skip locked
        ) as waiting
      ))
      returning waiting_deliveries.*
    $function$;

CREATE OR REPLACE FUNCTION public.take_inbox(workspaces uuid[], of_each integer)
 RETURNS SETOF event_inbox
 LANGUAGE sql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
      delete from event_inbox
      where ctid = any(array(
        select waiting.ctid
        from unnest(workspaces) as listed (workspace_id)
        cross join lateral (
          select event_inbox.ctid from event_inbox where event_inbox.workspace_id = listed.workspace_id order by id limit of_each
        ) as waiting
      ))
      returning event_inbox.*
    $function$;

CREATE OR REPLACE FUNCTION public.template_flow_references(subject text, body_text text, body_html text)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
      select jsonb_strip_nulls(jsonb_build_object(
        'subject', flow_references(subject), 'body_text', flow_references(body_text), 'body_html', flow_references(body_html)
      ))
    $function$;

CREATE OR REPLACE FUNCTION public.text_digest(value text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN sha256(convert_to(value, 'UTF8'::name));

CREATE TRIGGER access_keys_changed AFTER DELETE OR UPDATE ON public.access_keys FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER audit_entries_remain BEFORE DELETE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_removal();

CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER calendar_events_added AFTER INSERT ON public.calendar_events REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_calendar_versions();

CREATE TRIGGER calendar_events_changed AFTER UPDATE ON public.calendar_events REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_calendar_versions();

CREATE TRIGGER calendar_events_gone AFTER DELETE ON public.calendar_events REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_calendar_versions();

CREATE TRIGGER calendar_events_moved AFTER UPDATE ON public.calendar_events REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION raise_calendar_versions();

CREATE TRIGGER calendar_feeds_hold_blob AFTER INSERT OR DELETE OR UPDATE OF blob_id ON public.calendar_feeds FOR EACH ROW EXECUTE FUNCTION hold_blob();

CREATE TRIGGER calendar_states_changed BEFORE UPDATE OF version ON public.calendar_states FOR EACH ROW WHEN ((new.version <> old.version)) EXECUTE FUNCTION set_calendar_changed_at();

CREATE TRIGGER calendars_added AFTER INSERT ON public.calendars FOR EACH ROW EXECUTE FUNCTION add_calendar_state();

CREATE TRIGGER calendars_cap AFTER INSERT ON public.calendars FOR EACH ROW WHEN (((NOT new.is_primary) AND (new.key <> 'team'::text))) EXECUTE FUNCTION limit_rows('200', 'not is_primary and key <> ''team'' and left_at is null');

CREATE TRIGGER calendars_changed AFTER UPDATE ON public.calendars FOR EACH ROW EXECUTE FUNCTION raise_calendar_version();

CREATE TRIGGER drive_objects_changed AFTER UPDATE ON public.drive_objects REFERENCING OLD TABLE AS lost NEW TABLE AS gained FOR EACH STATEMENT EXECUTE FUNCTION count_drive_objects();

CREATE TRIGGER drive_objects_gained AFTER INSERT ON public.drive_objects REFERENCING NEW TABLE AS gained FOR EACH STATEMENT EXECUTE FUNCTION count_drive_objects();

CREATE TRIGGER drive_objects_hold_blob AFTER INSERT OR DELETE OR UPDATE OF blob_id ON public.drive_objects FOR EACH ROW EXECUTE FUNCTION hold_blob();

CREATE TRIGGER drive_objects_lost AFTER DELETE ON public.drive_objects REFERENCING OLD TABLE AS lost FOR EACH STATEMENT EXECUTE FUNCTION count_drive_objects();

CREATE TRIGGER event_listeners_changed AFTER INSERT OR DELETE OR UPDATE ON public.event_listeners FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER field_indexes_changed AFTER UPDATE ON public.field_indexes FOR EACH ROW WHEN (((old.common_trigrams <> new.common_trigrams) OR (old.frequent_trigrams <> new.frequent_trigrams))) EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER field_indexes_deleted AFTER DELETE ON public.field_indexes FOR EACH ROW WHEN ((old.common_trigrams <> '{}'::text[])) EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER fields_changed AFTER INSERT OR DELETE OR UPDATE ON public.fields FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER flow_versions_stay BEFORE UPDATE ON public.flow_versions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER flows_cap AFTER INSERT ON public.flows FOR EACH ROW EXECUTE FUNCTION limit_rows('500', 'true');

CREATE TRIGGER forms_cap AFTER INSERT ON public.forms FOR EACH ROW EXECUTE FUNCTION limit_rows('500', 'true');

CREATE TRIGGER forms_changed AFTER INSERT OR DELETE OR UPDATE ON public.forms FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER functions_cap AFTER INSERT ON public.functions FOR EACH ROW EXECUTE FUNCTION limit_rows('500', 'true');

CREATE TRIGGER functions_changed AFTER INSERT OR DELETE OR UPDATE ON public.functions FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER job_files_hold_blob AFTER INSERT OR DELETE OR UPDATE OF blob_id ON public.job_files FOR EACH ROW EXECUTE FUNCTION hold_blob();

CREATE CONSTRAINT TRIGGER journal_entries_balance AFTER INSERT ON public.journal_entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION require_balance();

CREATE TRIGGER journal_entries_remain BEFORE DELETE ON public.journal_entries FOR EACH ROW EXECUTE FUNCTION refuse_removal();

CREATE TRIGGER journal_entries_stay BEFORE UPDATE OR TRUNCATE ON public.journal_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER journal_lines_remain BEFORE DELETE ON public.journal_lines FOR EACH ROW EXECUTE FUNCTION refuse_removal();

CREATE TRIGGER journal_lines_stay BEFORE UPDATE OR TRUNCATE ON public.journal_lines FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER ledger_seals_remain BEFORE DELETE ON public.ledger_seals FOR EACH ROW EXECUTE FUNCTION refuse_removal();

CREATE TRIGGER ledger_seals_stay BEFORE UPDATE OR TRUNCATE ON public.ledger_seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER members_changed AFTER INSERT OR DELETE OR UPDATE ON public.members FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER members_clear_notifications AFTER INSERT OR DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION clear_notifications();

CREATE TRIGGER members_disable_webhooks AFTER DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION disable_webhooks('user_id');

CREATE TRIGGER members_follow_calendars AFTER INSERT OR DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION follow_member_calendars();

CREATE TRIGGER members_follow_drives AFTER INSERT OR DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION follow_member_drives();

CREATE TRIGGER members_leave_roles AFTER DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION drop_role_members('user_id');

CREATE TRIGGER message_templates_cap AFTER INSERT ON public.message_templates FOR EACH ROW EXECUTE FUNCTION limit_rows('1000', 'true');

CREATE TRIGGER notification_rules_cap AFTER INSERT ON public.notification_rules FOR EACH ROW EXECUTE FUNCTION limit_notification_rules();

CREATE TRIGGER notification_rules_changed AFTER INSERT OR DELETE OR UPDATE ON public.notification_rules FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER notification_rules_moved AFTER UPDATE ON public.notification_rules FOR EACH ROW WHEN ((old.object_type IS DISTINCT FROM new.object_type)) EXECUTE FUNCTION limit_notification_rules();

CREATE TRIGGER operations_add_failure AFTER INSERT ON public.operations FOR EACH ROW WHEN (((new.status = 'failed'::text) AND (NOT new.is_cancelled))) EXECUTE FUNCTION follow_failure();

CREATE TRIGGER operations_announce_failure AFTER UPDATE ON public.operations FOR EACH ROW WHEN (((new.status = 'failed'::text) AND (old.status <> 'failed'::text) AND (new.workspace_id IS NOT NULL))) EXECUTE FUNCTION announce_failed_job();

CREATE TRIGGER operations_delete_failure AFTER DELETE ON public.operations FOR EACH ROW WHEN ((old.status = 'failed'::text)) EXECUTE FUNCTION follow_failure();

CREATE TRIGGER operations_enqueue_continuation AFTER UPDATE ON public.operations FOR EACH ROW WHEN (((old.finished_at IS NULL) AND (new.finished_at IS NOT NULL) AND (new.continuation IS NOT NULL))) EXECUTE FUNCTION enqueue_continuation();

CREATE TRIGGER operations_follow_failure AFTER UPDATE ON public.operations FOR EACH ROW WHEN (((((old.status = 'failed'::text) AND (NOT old.is_cancelled)) OR ((new.status = 'failed'::text) AND (NOT new.is_cancelled))) AND ((((old.status IS DISTINCT FROM new.status) OR (old.is_cancelled IS DISTINCT FROM new.is_cancelled)) OR ((old.error)::text IS DISTINCT FROM (new.error)::text)) OR (old.attempts IS DISTINCT FROM new.attempts)))) EXECUTE FUNCTION follow_failure();

CREATE TRIGGER operations_release_gate_slot AFTER UPDATE ON public.operations FOR EACH ROW WHEN (((old.finished_at IS NULL) AND (new.finished_at IS NOT NULL))) EXECUTE FUNCTION release_gate_slot();

CREATE TRIGGER operator_log_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON public.operator_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER payment_timeline_stays BEFORE UPDATE OR TRUNCATE ON public.payment_timeline FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER queue_history_stays BEFORE DELETE OR UPDATE ON public.queue_history FOR EACH ROW EXECUTE FUNCTION keep_queue_history();

CREATE TRIGGER queues_changed AFTER INSERT OR DELETE OR UPDATE ON public.queues FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER record_types_changed AFTER INSERT OR DELETE OR UPDATE ON public.record_types FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER role_members_changed AFTER INSERT OR DELETE OR UPDATE ON public.role_members FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER roles_changed AFTER INSERT OR DELETE OR UPDATE ON public.roles FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER service_accounts_changed AFTER DELETE OR UPDATE ON public.service_accounts FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER service_accounts_disable_webhooks AFTER DELETE ON public.service_accounts FOR EACH ROW EXECUTE FUNCTION disable_webhooks('id');

CREATE TRIGGER service_accounts_leave_roles AFTER DELETE ON public.service_accounts FOR EACH ROW EXECUTE FUNCTION drop_role_members('id');

CREATE TRIGGER sessions_changed AFTER DELETE ON public.sessions FOR EACH ROW EXECUTE FUNCTION invalidate_cache('user_id');

CREATE TRIGGER site_content_hold_blob AFTER INSERT OR DELETE OR UPDATE OF blob_id ON public.site_content FOR EACH ROW EXECUTE FUNCTION hold_blob();

CREATE TRIGGER sites_cap AFTER INSERT ON public.sites FOR EACH ROW WHEN ((NOT new.is_shared)) EXECUTE FUNCTION limit_rows('100', 'not is_shared');

CREATE TRIGGER users_changed AFTER DELETE OR UPDATE ON public.users FOR EACH ROW EXECUTE FUNCTION invalidate_cache('id');

CREATE TRIGGER users_password_changed AFTER UPDATE OF password_hash ON public.users FOR EACH ROW WHEN ((old.password_hash IS DISTINCT FROM new.password_hash)) EXECUTE FUNCTION end_operator_sessions();

CREATE TRIGGER webhooks_added AFTER INSERT OR DELETE ON public.webhooks FOR EACH ROW EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER webhooks_cap AFTER INSERT ON public.webhooks FOR EACH ROW EXECUTE FUNCTION limit_rows('100', 'true');

CREATE TRIGGER webhooks_changed AFTER UPDATE ON public.webhooks FOR EACH ROW WHEN ((((old.object_type IS DISTINCT FROM new.object_type) OR (old.filter_keys IS DISTINCT FROM new.filter_keys)) OR ((old.status = 'disabled'::text) IS DISTINCT FROM (new.status = 'disabled'::text)))) EXECUTE FUNCTION invalidate_cache('workspace_id');

CREATE TRIGGER webhooks_disabled AFTER UPDATE ON public.webhooks FOR EACH ROW WHEN (((new.status = 'disabled'::text) AND (old.status <> 'disabled'::text))) EXECUTE FUNCTION end_webhook_deliveries();

CREATE TRIGGER workspaces_changed AFTER DELETE OR UPDATE ON public.workspaces FOR EACH ROW EXECUTE FUNCTION invalidate_cache('id');

CREATE TRIGGER workspaces_check_book_settings BEFORE UPDATE OF default_currency, books_closed_through ON public.workspaces FOR EACH ROW WHEN (((old.default_currency <> new.default_currency) OR (old.books_closed_through IS DISTINCT FROM new.books_closed_through))) EXECUTE FUNCTION check_book_settings();

CREATE TRIGGER workspaces_make_feed_head AFTER INSERT ON public.workspaces FOR EACH ROW EXECUTE FUNCTION make_feed_head();

CREATE TRIGGER workspaces_release_due_work AFTER UPDATE ON public.workspaces FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) OR (old.apps IS DISTINCT FROM new.apps))) EXECUTE FUNCTION release_due_work();

CREATE TRIGGER workspaces_set_share BEFORE INSERT OR UPDATE OF owner_id ON public.workspaces FOR EACH ROW EXECUTE FUNCTION set_workspace_share();

CREATE TRIGGER workspaces_shares_changed AFTER INSERT OR DELETE OR UPDATE OF owner_id, share_id ON public.workspaces FOR EACH ROW EXECUTE FUNCTION invalidate_shares();
