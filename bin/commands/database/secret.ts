import { sealedColumns } from '#shared/features.ts'
import { forgetBodyDigests } from '#shared/platform/jobs/idempotency-records.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { rotateSecrets } from '#shared/platform/secrets/rotate.ts'
import { adoptSecretKey } from '#shared/platform/secrets/secret-key.ts'
import { command } from '../../command.ts'

export const secretCommands = [
  command({
    name: 'secret rotate',
    summary: 'Seal everything under SECRET_KEY that SECRET_KEY_OTHER sealed, while Kontor runs; may be repeated',
    options: schema(t.Object({})),
    secrets: true,
    run: async (_, { db, config }) => {
      const columns = await rotateSecrets({ db, keys: config, columns: sealedColumns, forgetDigests: forgetBodyDigests })
      const lost = columns.flatMap(({ name, unreadable }) => unreadable.map((key) => `${name} of ${key}`))
      return {
        data: { ended: true, sealed: Object.fromEntries(columns.map(({ name, sealed }) => [name, sealed])), unreadable: lost },
        lines: [
          ...columns.filter(({ sealed }) => sealed > 0).map(({ name, sealed }) => `Sealed anew: ${sealed} of ${name}`),
          ...lost.map((one) => `Warning: neither key opens ${one}: enter it again`),
          'The rotation has ended: remove SECRET_KEY_OTHER from every process.',
        ],
      }
    },
  }),
  command({
    name: 'secret adopt',
    summary: 'Accept SECRET_KEY for this database although the key before is lost: what that one sealed has to be entered again',
    options: schema(t.Object({ yes: t.Boolean({ description: 'confirms that what was sealed is lost' }) })),
    secrets: 'unchecked',
    run: async (_, { db, config }) => {
      await adoptSecretKey(db, config)
      return { data: { adopted: true }, lines: ['SECRET_KEY is the key of this database now.'] }
    },
  }),
]
