import type { Db } from '#test/support/rows.ts'

/** Takes all roles from an account. */
export async function takeRoles(db: Db, principalId: string): Promise<void> {
  await db.query('delete from role_members where principal_id = $1', [principalId])
}

/** Deletes an event from its list, as its age does. */
export async function forgetEvent(db: Db, workspaceId: string, seq: number): Promise<void> {
  await db.query('delete from events where workspace_id = $1 and seq = $2', [workspaceId, seq])
}

/** Ends the time in which the secret before the last rotation signs too. */
export async function endPreviousSecret(db: Db, webhookId: string): Promise<void> {
  await db.query(`update webhooks set previous_secret_until = now() - interval '1 second' where id = $1`, [webhookId])
}

/** The deliveries of a webhook that were taken. */
export async function countDelivered(db: Db, webhookId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from webhook_deliveries where webhook_id = $1 and status = 'delivered'`,
    [webhookId],
  )
  return rows[0]?.count ?? 0
}

/** The tries of a webhook that its deliveries hold. */
export async function countTries(db: Db, webhookId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select coalesce(sum(jsonb_array_length(attempts)), 0)::integer as count from webhook_deliveries where webhook_id = $1',
    [webhookId],
  )
  return rows[0]?.count ?? 0
}

/** Makes retries due, and ends the runs of dead workers. */
export async function hurryDeliveries(db: Db): Promise<void> {
  await db.query(`update webhook_deliveries set next_attempt_at = now() where status = 'waiting' and tries > 0 and next_attempt_at > now()`)
  await db.query(`update webhooks set next_attempt_at = now() where next_attempt_at > now()`)
  await db.query(
    `update pgboss.job set heartbeat_on = now() - interval '1 minute'
     where name = 'webhooks.deliver' and state = 'active' and heartbeat_on < now() - interval '5 seconds'`,
  )
  await db.query(`update pgboss.job set start_after = now() where name = 'webhooks.deliver' and state = 'retry'`)
}
