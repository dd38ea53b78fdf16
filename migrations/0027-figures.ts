import type { Knex } from 'knex'

/** Figures of work by minute, and the last run of each maintenance task, for who runs the installation. New tables: no lock. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Kept seven days. Processes add to the rows of the present minute every few seconds; what a killed process had not added is lost. No row
    -- refers to a workspace's row, so that counting never waits for a change of it.

    -- Attempts by kind of job and workspace; a null workspace is the platform.
    create table job_figures (
      minute timestamptz not null,
      job text not null,
      workspace_id uuid,
      done integer not null,
      failed integer not null,
      run_ms bigint not null,
      constraint job_figures_key unique nulls not distinct (workspace_id, job, minute)
    );
    create index job_figures_minute on job_figures (minute);

    -- How long jobs waited and attempts ran: how many had a time of this step (time-steps.ts).
    create table job_times (
      minute timestamptz not null,
      job text not null,
      step smallint not null,
      waited integer not null,
      ran integer not null,
      primary key (minute, job, step)
    );

    -- What was done for each workspace, its jobs together.
    create table workspace_figures (
      minute timestamptz not null,
      workspace_id uuid not null,
      calls integer not null,
      computing_ms bigint not null,
      database_ms bigint not null,
      jobs integer not null,
      job_ms bigint not null,
      primary key (workspace_id, minute)
    );
    create index workspace_figures_minute on workspace_figures (minute);

    -- The last run of each maintenance task; error is null where it ended well.
    create table maintenance_runs (
      task text primary key,
      began_at timestamptz not null,
      ms integer not null,
      error text
    );
  `)
}
