import { randomUUID } from 'node:crypto'
import type { Pipeline } from '#bench/data/pipeline.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { makeToken } from '#shared/core/people/tokens.ts'

/** Keys of service accounts with different rights in the loaded workspace. */
export interface Callers {
  /** May read everything, by one role with one rule. */
  readonly plain: string
  /** May read the records of one stage. */
  readonly conditional: string
  /** Has one of the workspace's thousand roles of fifty rules. */
  readonly one: string
  /** Has all of these roles. */
  readonly all: string
}

const onStage = (stage: string) => ({ 'resource.stage': { eq: stage } })

/** A role as in a large workspace: many rules about other things, with conditions, and one about records of the loaded type. */
const large = (role: number, read: object) => [
  ...Array.from({ length: 48 }, (_, index) => ({
    effect: index % 8 === 0 ? 'deny' : 'allow',
    actions: ['records:read', 'records:update'],
    resources: [`type_${role}_${index}`],
    condition: { 'resource.stage': { in: [`stage-${index}`, `stage-${role}`] } },
  })),
  { ...read, condition: onStage(`stage-none-${role}`) },
  read,
]

/** Makes the callers for a type, straight in the database, with 1,000 roles of 50 rules that no other caller of the bench has. */
export function makeCallers(databaseUrl: string, { workspaceId, key }: Pipeline, stage: string): Promise<Callers> {
  return withDatabase(databaseUrl, 'access', async (db) => {
    const insert = (text: string, values: unknown[]) => db.query({ text, values })
    const role = async (policy: readonly object[]): Promise<string> => {
      const id = randomUUID()
      const text = 'insert into roles (workspace_id, id, name, policy) values ($1, $2, $3, $4)'
      await insert(text, [workspaceId, id, `role ${id}`, JSON.stringify(policy)])
      return id
    }
    const caller = async (roles: readonly string[]): Promise<string> => {
      const [id, token] = [randomUUID(), makeToken('key', workspaceId)]
      await insert('insert into service_accounts (workspace_id, id, name) values ($1, $2, $3)', [workspaceId, id, 'Bench'])
      await insert(
        `insert into access_keys (workspace_id, id, service_account_id, name, prefix, secret_hash) values ($1, $2, $3, 'key', 'kt_', $4)`,
        [workspaceId, randomUUID(), id, token.hash],
      )
      const text = 'insert into role_members (workspace_id, role_id, principal_id) select $1, unnest($2::uuid[]), $3'
      await insert(text, [workspaceId, roles, id])
      return token.text
    }
    const read = { effect: 'allow', actions: ['records:read'], resources: [key] }
    const many: string[] = []
    for (let index = 0; index < 1_000; index++) many.push(await role(large(index, read)))
    return {
      plain: await caller([await role([{ effect: 'allow', actions: ['records:read'] }])]),
      conditional: await caller([await role([{ ...read, condition: onStage(stage) }])]),
      one: await caller(many.slice(0, 1)),
      all: await caller(many),
    }
  })
}
