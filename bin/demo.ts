import { mkdir, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { addOperator } from '#shared/core/operators/operators.ts'
import { createPerson, generatePassword } from '#shared/core/people/people.ts'
import { systemActor } from '#shared/core/scope/actor.ts'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import { createAccessKey } from '#shared/core/workspaces/service-accounts/access-keys.ts'
import { createAdminAccount } from '#shared/core/workspaces/service-accounts/admin-account.ts'
import { findAnyWorkspace, lockWorkspaces } from '#shared/core/workspaces/store.ts'
import { createConnection } from '#shared/features/payments/connections/connections.ts'
import { firstRow, type Tx } from '#shared/platform/db/database.ts'
import { retryUntilAvailable } from '#shared/platform/db/retry-until-available.ts'
import type { CommandScope } from './command-scope.ts'
import { createDemoBooks } from './ledger/demo-books.ts'
import { createReadyWorkspace } from './workspaces.ts'

/** Content of the bootstrap file: how to reach the demo workspace (docs/contract/access.md#first-workspace). */
interface Bootstrap {
  readonly base_url: string
  readonly public_url: string
  readonly org_id: string
  readonly owner: { readonly id: string; readonly email: string; readonly password: string }
  readonly api_key: string
}

/**
 * Creates the workspace Demo, whose owner becomes an operator, in a database without workspaces and returns the path of DATA_DIR/bootstrap.json; null when a workspace
 * exists. The file is complete before the workspace is committed: a process killed in between leaves a file that the next start replaces,
 * and never a workspace without known credentials.
 */
export function createDemo(platform: CommandScope): Promise<string | null> {
  const create = async (tx: Tx): Promise<string | null> => {
    await tx.query(lockWorkspaces())
    if (await firstRow(tx, findAnyWorkspace())) return null
    const bootstrap = await createDemoWorkspace(within<PlatformScope>(platform, tx))
    return writeFileAtomically(join(platform.config.dataDir, 'bootstrap.json'), `${JSON.stringify(bootstrap, null, 2)}\n`)
  }
  // Several processes may start at once; a process that does not get the lock in time tries again.
  return retryUntilAvailable(AbortSignal.timeout(maxWaitMs), () => platform.db.transaction(create))
}

/** How long a start waits for other starts, in milliseconds. */
const maxWaitMs = 60_000

async function createDemoWorkspace(scope: PlatformScope): Promise<Bootstrap> {
  const { publicUrl, defaultPlan } = scope.config
  const password = generatePassword()
  const owner = await createPerson(scope, { email: 'owner@demo.example', name: 'Demo Owner', password })
  await addOperator(scope, owner, false)
  const workspace = await createReadyWorkspace(scope, { name: 'Demo', plan: defaultPlan, owner })
  const inside: Scope = { ...scope, workspace, actor: systemActor }
  const account = await createAdminAccount(inside, 'Demo')
  const { key } = await createAccessKey(inside, account.id, { name: 'Demo' })
  await createConnection(inside, { provider: 'sandbox', name: 'Sandbox', mode: 'test' })
  await createDemoBooks(inside)
  return {
    base_url: `${publicUrl}/v1`,
    public_url: publicUrl,
    org_id: workspace.id,
    owner: { id: owner.id, email: owner.email, password },
    api_key: key,
  }
}

/** Writes a file with mode 0600. The name never refers to a partial file, also after a power failure. */
async function writeFileAtomically(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${process.pid}`
  const file = await open(unfinished, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  return path
}
