import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { callWith } from '#test/bin/call.ts'
import { createService, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)
const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const everything = [{ effect: 'allow', actions: ['*'] }]

/** A folder in which a client finds openapi-fetch. */
async function makeProject(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontor-client-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await symlink(modules, join(folder, 'node_modules'))
  return folder
}

/** `kontor client` with a key of this policy. */
async function generate(w: World, out: string, policy: readonly object[] = everything, key?: string) {
  const { client } = await createService(w, w.org, policy)
  const token = key ?? client.token ?? ''
  const environment = { KONTOR_URL: `http://127.0.0.1:${w.api.port}`, KONTOR_KEY: token, DATA_DIR: w.config.dataDir }
  return { ...(await callWith(environment, 'client', '--out', out, '--json')), environment }
}

const settings = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    allowImportingTsExtensions: true,
    types: [],
  },
  files: ['program.ts'],
}

/** TypeScript's errors of a program that uses the client in its folder. */
async function complaints(folder: string, program: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const failed = (error: { stdout: string }) => error
  const compiler = join(modules, 'typescript-7', 'bin', 'tsc')
  return (await promisify(execFile)(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).catch(failed)).stdout
}

const evil = 'Deals */ declare const evil: 1 /*'

// Written in two parts, since Kontor's own files must not contain them.
const expectError = '@ts-expect' + '-error'
const ignore = '@ts-ig' + 'nore'

async function makeTypes({ owner, path }: Org): Promise<void> {
  await owner.post(`${path}/types`, { key: 'class', label: evil })
  const fields: readonly (readonly [string, string, object?])[] = [
    ['delete', 'string', { required: true }],
    ['constructor', 'string'],
    ['stage', 'select', { rules: { options: ['new', 'it\'s "won"', 'back\\slash'], default: 'new' }, required: true }],
    ['price', 'currency', { label: expectError }],
    ['tags', 'multiselect', { rules: { options: ['a', 'b'] }, label: `**${ignore} me@home` }],
    ['hush_hush', 'text'],
    ['twice', 'number'],
  ]
  for (const [key, type, more] of fields) {
    const made = await owner.post(`${path}/fields`, { entity_type: 'class', key, label: evil, type, ...more })
    if (key === 'twice') await owner.put(`${path}/fields/${made.data.id}/formula`, { formula: '1 + 1' })
  }
}

const wrong = `// ${expectError}`

const program = `
import { KontorError, kontor, type KontorOptions, type RecordOf } from './kontor.ts'

export async function run(options: KontorOptions): Promise<object> {
  const k = kontor(options)
  const made: RecordOf<'class'> = await k.records.create('class', { delete: 'first', price: { amount: '12.50', code: 'EUR' }, tags: ['a'] })
  const stage: 'new' | 'it\\'s "won"' | 'back\\\\slash' | null = made.values.stage
  const code: string | undefined = made.values.price?.code
  await k.records.update('class', made.id, { constructor: 'changed', stage: 'back\\\\slash' })
  const got = await k.records.get('class', made.id)
  const { created } = await k.records.import('class', 'delete\\na\\nb\\nc\\nd\\n')
  const map = { Name: 'delete', Rest: null }
  const judged = await k.records.import('class', 'Name;Rest;price\\nx;y;1.234,5\\n', { map, decimal: ',', dates: 'dmy', dry_run: true })

  const page = await k.records.list('class', { limit: 2 })
  const all: string[] = []
  for await (const one of k.records.list('class', { limit: 2 })) all.push(one.values.delete ?? '')
  const found: string[] = []
  const filter = { field: 'delete', op: 'in', value: ['a', 'b', 'c'] }
  for await (const one of k.records.list('class', { filter, sort: 'delete', dir: 'asc', limit: 2 })) found.push(one.values.delete ?? '')
  const text = JSON.stringify(filter)
  for await (const one of k.records.list('class', { filter: text, sort: 'delete', dir: 'asc', limit: 2, page: 2 })) found.push(one.id)

  const types: number[] = []
  for await (const page of k.pages('/v1/orgs/{orgId}/types', { params: { query: { limit: 2 } } })) types.push(page.length)
  const entries: string[] = []
  for await (const page of k.pages('/v1/orgs/{orgId}/audit', { params: { query: { limit: 3, action: 'record.created' } } }))
    for (const entry of page.entries) entries.push(entry.action)

  const later = { headers: { prefer: 'respond-async' } }
  const path = { typeKey: 'class' }
  const csv = await k.GET('/v1/orgs/{orgId}/records/{typeKey}/export', { ...later, params: { path, query: { sort: 'delete' } } })
  const batch = await k.POST('/v1/orgs/{orgId}/records/{typeKey}/batch', {
    ...later,
    params: { path },
    body: { operations: [{ op: 'create', values: { delete: 'z' } }] },
  })
  const none = await k.DELETE('/v1/orgs/{orgId}/records/{typeKey}/{recordId}', { params: { path: { ...path, recordId: made.id } } })
  const raw = await k.GET('/v1/orgs/{orgId}/records/{typeKey}', { params: { path: { ...path, orgId: options.org } }, parseAs: 'text' })
  const failures: unknown[] = []
  const fail = async (work: PromiseLike<unknown>) => {
    try {
      await work
    } catch (error) {
      if (error instanceof KontorError) failures.push([error.code, error.status, error.message, typeof error.requestId])
    }
  }
  await fail(k.records.get('class', made.id))
  await fail(k.records.create('class', { delete: '' }))
  await fail(k.records.import('class', 'x'.repeat(10)))
  await fail(k.POST('/v1/orgs/{orgId}/records/{typeKey}/import', { ...later, params: { path }, body: new Blob(['"'], { type: 'text/csv' }) }))
  await fail(kontor({ ...options, key: 'kt_wrong' }).records.list('class'))
  await fail(kontor({ ...options, url: 'http://127.0.0.1:1' }).GET('/v1/auth/me'))
  const file = new Blob(['hello'], { type: 'text/plain' })
  const spaces = await k.GET('/v1/orgs/{orgId}/drive/buckets')
  const space = { bucketId: spaces.data.data.buckets[0]?.id ?? '' }
  await k.POST('/v1/orgs/{orgId}/drive/buckets/{bucketId}/objects', { params: { path: space }, body: { file, key: 'form.txt' } })
  const down = await k.GET('/v1/orgs/{orgId}/drive/buckets/{bucketId}/download', { params: { path: space, query: { key: 'form.txt' } } })
  return {
    stage, code, got, created, judged: [judged.created, judged.updated, judged.failed], page, all, found, types, failures,
    entries: entries.length, csv: await csv.data.text(), batch: batch.data.data.results.length,
    none: none.data, raw: typeof raw.data, down: [await down.data.text(), down.data.type],
  }
}

export async function wrongs(): Promise<void> {
  const k = kontor({ url: 'http://localhost', key: '', org: '' })
  ${wrong} no such field
  await k.records.create('class', { delete: 'x', nothing: 1 })
  ${wrong} a needed field
  await k.records.create('class', {})
  ${wrong} a needed field
  await k.records.create('class')
  ${wrong} no such option
  await k.records.create('class', { delete: 'x', stage: 'other' })
  ${wrong} a computed field
  await k.records.create('class', { delete: 'x', twice: 1 })
  ${wrong} a hidden field
  await k.records.update('class', 'x', { hush_hush: 'x' })
  ${wrong} a required field cannot be cleared
  await k.records.update('class', 'x', { delete: null })
  ${wrong} no such type
  await k.records.get('nothing', 'x')
  ${wrong} no such order of dates
  await k.records.import('class', 'x', { dates: 'dym' })
  ${wrong} a query parameter that the route does not have
  await k.GET('/v1/orgs/{orgId}/types', { params: { query: { limt: 1 } } })
  ${wrong} no such route
  await k.GET('/v1/orgs/{orgId}/nothing')
  ${wrong} a workspace has a name
  await k.POST('/v1/orgs', { body: {} })
}
`

test('client: a generated client compiles under strict and does what it says', async (t) => {
  const w = await fresh()
  await makeTypes(w.org)
  const folder = await makeProject(t)
  const hides = [...everything, { effect: 'allow', actions: ['records:read'], resources: ['class'], fields: { deny: ['hush_hush'] } }]
  const { code, err, json, environment } = await generate(w, join(folder, 'kontor.ts'), hides)
  t.is(code, 0, err)
  t.true(json.types.includes('class'))
  t.deepEqual(await readdir(folder), ['kontor.ts', 'node_modules'], 'no half-written file stays')
  const text = await readFile(join(folder, 'kontor.ts'), 'utf8')
  t.false(text.includes('hush_hush'), 'a hidden field is not named')
  t.false(text.includes(expectError) || text.includes(ignore), 'a label is no directive')
  t.true(text.includes('me@home'))
  t.is(await complaints(folder, program), '')
  const { run } = await import(join(folder, 'program.ts'))
  const result = await run({ url: environment.KONTOR_URL, key: environment.KONTOR_KEY, org: w.org.id })
  t.like(result, { stage: 'new', code: 'EUR', created: 4, types: [2, 2, 1], entries: 5, batch: 1, none: undefined, raw: 'string' })
  t.deepEqual(result.judged, [1, 0, 0])
  t.like(result.got.values, {
    delete: 'first',
    constructor: 'changed',
    stage: 'back\\slash',
    price: { amount: 12.5, code: 'EUR' },
    twice: 2,
  })
  t.is(result.page.records.length, 2)
  t.deepEqual(result.all, ['d', 'c', 'b', 'a', 'first'])
  t.deepEqual(result.found.slice(0, 3), ['a', 'b', 'c'])
  t.is(result.found.length, 4, 'a search goes on from the page that it begins with')
  t.regex(result.csv, /^id,created_at,delete,/)
  t.deepEqual(result.down, ['hello', 'text/plain;charset=utf-8'])
  t.deepEqual(result.failures, [
    ['NOT_FOUND', 404, 'Not found', 'string'],
    ['VALIDATION_ERROR', 400, 'values.delete is required', 'string'],
    ['VALIDATION_ERROR', 400, 'file must have a header row of which at least one column is the key of a field', 'string'],
    ['VALIDATION_ERROR', 400, 'file: the header row has a quoted cell that is never closed', 'undefined'],
    ['UNAUTHORIZED', 401, 'The access key or session token is unknown: it was mistyped, revoked or signed out', 'string'],
    ['UNREACHABLE', 0, 'http://127.0.0.1:1 cannot be reached', 'undefined'],
  ])
})

test('client: a search gives each record once while records are deleted, changed and made', async (t) => {
  const w = await fresh()
  await makeTypes(w.org)
  const folder = await makeProject(t)
  const { code, err, environment } = await generate(w, join(folder, 'kontor.ts'))
  t.is(code, 0, err)
  const { kontor } = await import(join(folder, 'kontor.ts'))
  const { records } = kontor({ url: environment.KONTOR_URL, key: environment.KONTOR_KEY, org: w.org.id })
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const filter = { field: 'stage', op: 'eq', value: 'new' }
  const queries = [
    { filter, limit: 1 },
    { filter, limit: 2, sort: 'delete', dir: 'asc' },
    { filter, limit: 3 },
  ]
  const leave = [(id: string) => records.delete('class', id), (id: string) => records.update('class', id, { stage: 'back\\slash' })]
  const make = (name: string) => records.create('class', { delete: name, stage: 'new' })
  for (const query of queries) {
    for (const end of leave) {
      for (const name of names) await make(name)
      const given: string[] = []
      for await (const one of records.list('class', query)) {
        given.push(one.values.delete)
        // Before the place that is read, in either order.
        if (given.length === 2) await make('0')
        await end(one.id)
      }
      t.deepEqual(given.filter((name) => name !== '0').sort(), names, JSON.stringify(query))
      for await (const one of records.list('class', { filter })) await records.delete('class', one.id)
      t.is((await records.list('class', { filter })).total, 0)
    }
  }
  for (const name of names) await make(name)
  const rest: string[] = []
  for await (const one of records.list('class', { filter, sort: 'delete', dir: 'asc', limit: 2, page: 2 })) rest.push(one.values.delete)
  t.deepEqual(rest, names.slice(2), 'from the page that is asked for')
})

test('client: a refusal says what is missing, and an old file stays as it is', async (t) => {
  const w = await fresh()
  const folder = await makeProject(t)
  const out = join(folder, 'kontor.ts')
  await writeFile(out, 'old')
  const refused = async (...args: readonly [file: string, policy?: readonly object[], key?: string]) => {
    const { code, json } = await generate(w, ...args)
    return { code, error: `${json.error.code}: ${json.error.message}` }
  }
  t.like(await refused(out, [{ effect: 'allow', actions: ['types:read'] }]), { code: 1, error: 'FORBIDDEN: Needs records:read' })
  t.regex((await refused(out, [], 'kt_wrong')).error, /^UNAUTHORIZED: The access key or session token is unknown/)
  t.deepEqual(await readFile(out, 'utf8'), 'old')
  const { code, error } = await refused(join(folder, 'nowhere', 'kontor.ts'))
  t.is(code, 2)
  t.regex(error, /^VALIDATION_ERROR: --out .*nowhere.kontor\.ts cannot be written: ENOENT/)
  t.regex((await refused(folder)).error, /^VALIDATION_ERROR: --out .* cannot be written: /)
  t.deepEqual(await readdir(folder), ['kontor.ts', 'node_modules'])
})

test('client: a key that reads no field of a workspace gets a client that compiles', async (t) => {
  const w = await fresh()
  const folder = await makeProject(t)
  const policy = [{ effect: 'allow', actions: ['records:read'], resources: ['locations'], fields: { allow: [] } }]
  const { code, err } = await generate(w, join(folder, 'kontor.ts'), policy)
  t.is(code, 0, err)
  t.is(
    await complaints(
      folder,
      `import { kontor } from './kontor.ts'\nvoid kontor({ url: '', key: '', org: '' }).records.get('locations', 'x')`,
    ),
    '',
  )
})

test('client: the examples of its page compile', async (t) => {
  const w = await fresh()
  const folder = await makeProject(t)
  t.is((await generate(w, join(folder, 'kontor.ts'))).code, 0)
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'contract', 'client.md'), 'utf8')
  const examples = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, example]) => example)
  t.true(examples.length >= 3)
  const given = 'declare const process: { env: { KONTOR_KEY?: string } }\ndeclare const [queueId, id]: [string, string]\n'
  t.is(await complaints(folder, given + examples.join('\n')), '')
})
