import { createPerson, generatePassword } from '#shared/core/people/people.ts'
import { newPassword } from '#shared/core/people/schemas.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'

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
]
