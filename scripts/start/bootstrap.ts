import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from './private-file.ts'

/** The content of bootstrap.json: addresses, the demo workspace, its owner and an access key (docs/contract/access.md#first-workspace). */
export type Bootstrap = {
  readonly base_url: string
  readonly public_url: string
  readonly org_id: string
  readonly owner: { readonly id: string; readonly email: string; readonly password: string }
  readonly api_key: string
}

/** Reads DATA_DIR/bootstrap.json; null if there is none. Its addresses are corrected first if this start has others. */
export function readBootstrap(dataDir: string, publicUrl: string): Bootstrap | null {
  const file = join(dataDir, 'bootstrap.json')
  const found = parse(file)
  if (!found || found.public_url === publicUrl) return found
  const corrected = { ...found, base_url: `${publicUrl}/v1`, public_url: publicUrl }
  writePrivate(file, `${JSON.stringify(corrected, null, 2)}\n`)
  return corrected
}

function parse(file: string): Bootstrap | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
