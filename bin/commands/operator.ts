import { addOperator, listOperators, removeOperator } from '#shared/core/operators/operators.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import { formatTable } from '../table.ts'
import { requirePerson } from '../workspaces.ts'

const address = t.String({ description: 'address or id of a person with an account' })
const rightsOf = (isReadOnly: boolean): string => (isReadOnly ? 'read-only' : 'may act')

export const operatorCommands = [
  command({
    name: 'operator add',
    summary: 'Make a person an operator of the installation, or change what it may do',
    options: schema(
      t.Object({ address, read_only: t.Optional(t.Boolean({ description: 'it sees what operators see, and changes nothing' })) }),
    ),
    run: async ({ address, read_only = false }, platform) => {
      const person = await requirePerson(platform, address)
      const changed = await addOperator(platform, person, read_only)
      const { id, email } = person
      return { data: { id, address: email, read_only, changed }, lines: [`${email} (${id}) is an operator: ${rightsOf(read_only)}.`] }
    },
  }),
  command({
    name: 'operator list',
    summary: 'Show the operators of the installation',
    options: schema(t.Object({})),
    run: async (_, { db }) => {
      const operators = await listOperators(db)
      const rows = operators.map(({ id, address, name, read_only, since }) => [id, address, name, rightsOf(read_only), since])
      return { data: { operators }, lines: formatTable([['id', 'address', 'name', 'rights', 'since'], ...rows]) }
    },
  }),
  command({
    name: 'operator remove',
    summary: 'Remove an operator; its account stays',
    options: schema(t.Object({ address })),
    run: async ({ address }, platform) => {
      const person = await requirePerson(platform, address)
      await removeOperator(platform, person)
      return { data: { id: person.id, address: person.email }, lines: [`${person.email} is no operator any more.`] }
    },
  }),
]
