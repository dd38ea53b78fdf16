import type { Command } from './command.ts'
import { bootstrapCommands } from './commands/bootstrap.ts'
import { clientCommands } from './commands/client.ts'
import { backupCommands } from './commands/database/backup.ts'
import { indexCommands } from './commands/database/indexes.ts'
import { migrateCommands } from './commands/database/migrate.ts'
import { restoredCommands } from './commands/database/restored.ts'
import { secretCommands } from './commands/database/secret.ts'
import { upgradeCommands } from './commands/database/upgrades.ts'
import { driveCommands } from './commands/drive.ts'
import { importCommands } from './commands/import.ts'
import { inspectCommands } from './commands/inspect.ts'
import { jobCommands } from './commands/jobs.ts'
import { keyCommands } from './commands/key.ts'
import { ledgerCommands } from './commands/ledger.ts'
import { mailCommands } from './commands/mail.ts'
import { operatorCommands } from './commands/operator.ts'
import { orgCommands } from './commands/org.ts'
import { pauseCommands } from './commands/pauses.ts'
import { queueCommands } from './commands/queues.ts'
import { statusCommands } from './commands/status.ts'
import { userCommands } from './commands/user.ts'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  ...orgCommands,
  ...mailCommands,
  ...userCommands,
  ...operatorCommands,
  ...keyCommands,
  ...importCommands,
  ...clientCommands,
  ...driveCommands,
  ...queueCommands,
  ...ledgerCommands,
  ...migrateCommands,
  ...backupCommands,
  ...restoredCommands,
  ...secretCommands,
  ...statusCommands,
  ...jobCommands,
  ...pauseCommands,
  ...indexCommands,
  ...upgradeCommands,
  ...inspectCommands,
  ...bootstrapCommands,
]
