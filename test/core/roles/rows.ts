import type { Db } from '#test/support/rows.ts'

/** Removes a member, past the API. */
export async function deleteMember(db: Db, userId: string): Promise<void> {
  await db.query('delete from members where user_id = $1', [userId])
}

/** Makes a role one of visitors, past the API. */
export async function makeRoleAnonymous(db: Db, roleId: string): Promise<void> {
  await db.query('update roles set is_anonymous = true where id = $1', [roleId])
}

/** The bytes of a role's policy, as the database derives them. */
export async function readPolicyBytes(db: Db, roleId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ policy_bytes: number }>('select policy_bytes from roles where id = $1', [roleId])
  return rows[0]?.policy_bytes
}
