import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const run = promisify(execFile)
const node = (...args: string[]) => run(process.execPath, args, { encoding: 'utf8' })

// Written in two parts: nothing of Kontor itself may say so.
const wrong = '// @ts-expect' + '-error'

/** What somebody writes who has made both clients. Each line that must not compile says so, so that types of nothing would be noticed. */
const program = `
import { createClient } from './hey/client'
import { getRecordsByTypeKey, postOrgs, type Workspace } from './hey'
import type { components, paths } from './types'

const client = createClient({ baseUrl: 'https://kontor.test', auth: () => 'kt_key' })
export async function first(): Promise<Workspace | undefined> {
  const { data } = await postOrgs({ client, body: { name: 'Acme' } })
  ${wrong} a workspace has a name
  await postOrgs({ client, body: {} })
  await getRecordsByTypeKey({ client, path: { orgId: 'o', typeKey: 'invoices' }, query: { limit: 5 } })
  ${wrong} a record type has a key
  await getRecordsByTypeKey({ client, path: { orgId: 'o' } })
  return data?.data
}

type Made = paths['/v1/orgs']['post']['responses'][201]['content']['application/json']['data']
export const name = (workspace: Made): string => workspace.name
export const same = (workspace: Made): components['schemas']['Workspace'] => workspace
${wrong} there is no such path
export type None = paths['/v1/nowhere']
`

const settings = {
  compilerOptions: { strict: true, noEmit: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', types: [] },
  files: ['program.ts', 'hey/index.ts', 'types.d.ts'],
}

test('clients: clients that @hey-api/openapi-ts and openapi-typescript make of the description compile', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kontor-clients-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const description = join(folder, 'openapi.json')
  await writeFile(description, JSON.stringify(describeApi(sections, 'https://kontor.test')))
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const hey = join(modules, '@hey-api', 'openapi-ts', 'bin', 'run.js')
  await node(hey, '-i', description, '-o', join(folder, 'hey'), '-c', '@hey-api/client-fetch', '--no-log-file', '--silent')
  await node(join(modules, 'openapi-typescript', 'bin', 'cli.js'), description, '-o', join(folder, 'types.d.ts'))
  const compiled = node(join(modules, 'typescript-7', 'bin', 'tsc'), '-p', folder)
  t.is(await compiled.then(({ stdout }) => stdout).catch(({ stdout }: { stdout: string }) => stdout), '')
})
