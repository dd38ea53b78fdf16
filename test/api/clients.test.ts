import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const run = promisify(execFile)
const node = (folder: string, ...args: string[]) => run(process.execPath, args, { cwd: folder, encoding: 'utf8' })

// Written in two parts, since Kontor's own files must not contain it.
const wrong = '// @ts-expect' + '-error'

/** What uses a client that is a function for each route. */
const functionPerRoute = `
  import { getRecordsByTypeKey, postOrgs, type Workspace } from './made'

  export async function first(): Promise<Workspace | undefined> {
    const made = await postOrgs({ name: 'Acme' })
    ${wrong} a workspace has a name
    await postOrgs({})
    await getRecordsByTypeKey('o', 'invoices', { limit: 5 })
    ${wrong} a record type has a key
    await getRecordsByTypeKey('o')
    return made.status === 201 ? made.data.data : undefined
  }`

/** A generator of clients, and a program that uses what it writes. Lines that must not compile are marked, so that missing types are noticed. */
interface Generator {
  /** Arguments of Node in the folder that holds openapi.json: a script, and its arguments. */
  readonly command: readonly string[]
  /** The text of `generate.mjs` in the folder, for generators without a command that fits. */
  readonly script?: string
  readonly program: string
}

const generators: Readonly<Record<string, Generator>> = {
  '@hey-api/openapi-ts': {
    command: [
      join(modules, '@hey-api', 'openapi-ts', 'bin', 'run.js'),
      ...['-i', 'openapi.json', '-o', 'made', '-c', '@hey-api/client-fetch', '--no-log-file', '--silent'],
    ],
    program: `
      import { createClient } from './made/client'
      import { getRecordsByTypeKey, postOrgs, type Workspace } from './made'

      const client = createClient({ baseUrl: 'https://kontor.test', auth: () => 'kt_key' })
      export async function first(): Promise<Workspace | undefined> {
        const { data } = await postOrgs({ client, body: { name: 'Acme' } })
        ${wrong} a workspace has a name
        await postOrgs({ client, body: {} })
        await getRecordsByTypeKey({ client, path: { orgId: 'o', typeKey: 'invoices' }, query: { limit: 5 } })
        ${wrong} a record type has a key
        await getRecordsByTypeKey({ client, path: { orgId: 'o' } })
        return data?.data
      }`,
  },
  'openapi-typescript and openapi-fetch': {
    command: [join(modules, 'openapi-typescript', 'bin', 'cli.js'), 'openapi.json', '-o', 'made.ts', '--default-non-nullable', 'false'],
    program: `
      import createClient from 'openapi-fetch'
      import type { components, paths } from './made'

      const client = createClient<paths>({ baseUrl: 'https://kontor.test' })
      export async function first(): Promise<components['schemas']['Workspace'] | undefined> {
        const { data } = await client.POST('/v1/orgs', { body: { name: 'Acme' } })
        ${wrong} a workspace has a name
        await client.POST('/v1/orgs', { body: {} })
        const path = { orgId: 'o', typeKey: 'invoices' }
        await client.GET('/v1/orgs/{orgId}/records/{typeKey}', { params: { path, query: { limit: 5 } } })
        ${wrong} a record type has a key
        await client.GET('/v1/orgs/{orgId}/records/{typeKey}', { params: { path: { orgId: 'o' } } })
        return data?.data
      }`,
  },
  orval: {
    command: ['generate.mjs'],
    // It sends a body of several types as its first, which cannot be a form.
    script: `
      import { generate } from 'orval'
      const override = { contentType: { exclude: ['multipart/form-data'] } }
      await generate({ input: 'openapi.json', output: { target: 'made.ts', client: 'fetch', override } })`,
    program: functionPerRoute,
  },
  oazapfts: {
    command: [join(modules, 'oazapfts', 'dist', 'cli.js'), 'openapi.json', 'made.ts'],
    program: functionPerRoute,
  },
  'swagger-typescript-api': {
    command: ['generate.mjs'],
    script: `
      import { generateApi } from 'swagger-typescript-api'
      const folder = process.cwd()
      await generateApi({ input: folder + '/openapi.json', output: folder, fileName: 'made.ts', silent: true })`,
    program: `
      import { Api, type Workspace } from './made'

      const api = new Api({ baseUrl: 'https://kontor.test' })
      export async function first(): Promise<Workspace | undefined> {
        const { data } = await api.v1.postOrgs({ name: 'Acme' })
        ${wrong} a workspace has a name
        await api.v1.postOrgs({})
        return data.data
      }`,
  },
  kubb: {
    command: ['generate.mjs'],
    script: `
      import { build } from '@kubb/core'
      import { pluginOas } from '@kubb/plugin-oas'
      import { pluginTs } from '@kubb/plugin-ts'
      const plugins = [pluginOas({ generators: [] }), pluginTs({ output: { path: 'types.ts' } })]
      const { error } = await build({ config: { root: process.cwd(), input: { path: 'openapi.json' }, output: { path: 'made' }, plugins } })
      if (error) throw error`,
    program: `
      import type { PostOrgsMutationRequest, Workspace } from './made'

      export const input: PostOrgsMutationRequest = { name: 'Acme' }
      ${wrong} a workspace has a name
      export const other: PostOrgsMutationRequest = {}
      export const first = ({ name }: Workspace): string => name`,
  },
}

const settings = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
  },
  files: ['program.ts'],
}

const description = JSON.stringify(describeApi(sections, 'https://kontor.test'))

for (const [name, { command, script, program }] of Object.entries(generators)) {
  test(`clients: a client generated by ${name} compiles`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'kontor-clients-'))
    t.teardown(() => rm(folder, { recursive: true, force: true }))
    await symlink(modules, join(folder, 'node_modules'))
    await writeFile(join(folder, 'openapi.json'), description)
    await writeFile(join(folder, 'generate.mjs'), script ?? '')
    await writeFile(join(folder, 'program.ts'), program)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    await node(folder, ...command)
    const compiled = node(folder, join(modules, 'typescript-7', 'bin', 'tsc'), '-p', folder)
    t.is(await compiled.then(({ stdout }) => stdout).catch(({ stdout }: { stdout: string }) => stdout), '')
  })
}
