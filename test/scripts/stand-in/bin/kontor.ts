import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { release } from '../shared/release.ts'

const file = join(process.env.DATA_DIR ?? '', 'bootstrap.json')
const publicUrl = process.env.PUBLIC_URL ?? ''
const owner = { id: 'owner', email: 'owner@example.com', password: 'password' }
const bootstrap = { base_url: `${publicUrl}/v1`, public_url: publicUrl, org_id: 'demo', owner, api_key: 'kt_key' }
if (process.argv[2] === 'bootstrap' && !existsSync(file)) writeFileSync(file, JSON.stringify(bootstrap), { mode: 0o600 })
if (process.argv[2] === 'migrate') await release(process.env.DATABASE_URL ?? '')
