/** SQL that inserts a job for each row of `made`, as pg-boss inserts one without options. The arguments are SQL, `queue` that of its name. */
export const insertJobs = (id: string, data: string, group: string, queue: string): string => `insert into pgboss.job (
    id, name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
    retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
  )
  select ${id}, queue.name, ${data}, ${group}, pgboss.job_now(), pgboss.job_now(),
    pgboss.job_now() + queue.retention_seconds * interval '1s', queue.expire_seconds, queue.deletion_seconds,
    queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max, queue.policy, queue.dead_letter, queue.heartbeat_seconds
  from made cross join pgboss.queue as queue where queue.name = ${queue}`
