import { createPerson, generatePassword } from '#shared/core/people/people.ts'
import { newPassword } from '#shared/core/people/schemas.ts'
import { listPeople } from '#shared/core/workspaces/operator-store.ts'
import { setSharesApart } from '#shared/core/workspaces/owners.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import { formatTable } from '../table.ts'
import { requirePerson, workspaceScope } from '../workspaces.ts'

export const userCommands = [
  command({
    name: 'user create',
    summary: 'Create an account for a person',
    options: schema(
      t.Object({
        email: t.String({ format: 'email', description: 'the address to sign in with' }),
        name: nameSchema(120),
        password: t.Optional({ ...newPassword, description: 'default: a generated password, which is shown' }),
      }),
    ),
    run: async ({ email, name, password }, platform) => {
      const chosen = password ?? generatePassword()
      const { id } = await createPerson(platform, { email, name, password: chosen })
      return {
        data: { id, email, name, ...(password === undefined ? { password: chosen } : {}) },
        lines: [`Created ${email} (${id}).`, ...(password === undefined ? [`Password: ${chosen}`] : [])],
      }
    },
  }),
  command({
    name: 'user list',
    summary: 'Show the people with an account, or the members of one workspace',
    options: schema(t.Object({ org: t.Optional(t.String({ description: 'id or name of a workspace; default: everybody' })) })),
    run: async ({ org }, platform) => {
      const scope = org === undefined ? undefined : await workspaceScope(platform, org)
      const people = await platform.db.query(listPeople({ workspaceId: scope?.workspace.id }))
      const rows = people.map(({ id, email, name, owns, belongs_to, created_at }) => [id, email, name, owns, belongs_to, created_at])
      return { data: { people }, lines: formatTable([['id', 'address', 'name', 'owns', 'belongs to', 'created at'], ...rows]) }
    },
  }),
  command({
    name: 'user share',
    summary: 'Count the workspaces of an owner one by one, or together, where workspaces share slots and connections',
    options: schema(
      t.Object({
        person: t.String({ description: 'address or id of the owner' }),
        workspaces: t.Enum(['separate', 'together'], {
          description:
            'separate: each may have as much as a workspace of another owner; together (the default of every owner): all of them',
        }),
      }),
    ),
    run: async ({ person, workspaces }, platform) => {
      const { id, email } = await requirePerson(platform, person)
      const count = await setSharesApart(platform, id, workspaces === 'separate')
      const counted = workspaces === 'separate' ? 'count one by one' : 'count together'
      return { data: { id, email, workspaces, count }, lines: [`The workspaces of ${email} (${count} now) ${counted}.`] }
    },
  }),
]
