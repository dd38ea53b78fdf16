import { checkBlobs } from '#shared/platform/blobs/backup/check.ts'
import { copyBlobs } from '#shared/platform/blobs/backup/copy.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../../command.ts'

const folder = t.String({ minLength: 1, description: 'the folder of the copies; the same one each time' })

export const backupCommands = [
  command({
    name: 'backup files',
    summary:
      'Copy the files that the database names and the folder lacks, and compare each with its digest; run it after the backup of the database',
    options: schema(t.Object({ folder })),
    run: async ({ folder }, platform) => {
      const fault = await platform.blobs.check()
      if (fault) throw problem('UNAVAILABLE', 'foreign' in fault ? fault.foreign : fault.away)
      const { copied, copiedBytes, present, failures } = await copyBlobs(platform, folder)
      const data = { copied, copied_bytes: copiedBytes, present, failures }
      const sum = `${copied} files copied (${copiedBytes} bytes), ${present} were there, ${failures.length} could not be copied`
      return { data, lines: [...failures, sum], failed: failures.length > 0 }
    },
  }),
  command({
    name: 'backup check',
    summary: 'Compare the copies in a folder with the files that the database of DATABASE_URL names, such as one restored for a trial',
    options: schema(t.Object({ folder })),
    run: async ({ folder }, { db }) => {
      const { intact, unmeasured, unnamed, faults } = await checkBlobs(db, folder)
      const sum = `${intact} files intact, ${unmeasured} present without a known digest, ${unnamed} that the database does not name, ${faults.length} missing or different`
      return { data: { intact, unmeasured, unnamed, faults }, lines: [...faults, sum], failed: faults.length > 0 }
    },
  }),
]
