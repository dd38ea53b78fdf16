import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { workerPools } from '#shared/platform/jobs/job.ts'
import { readSources } from '#test/architecture/source.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The variables that processes read. */
const variables = [
  ...new Set(
    [...read('shared/platform/kernel/config.ts').matchAll(/(?:read\('|environment\.)([A-Z][A-Z0-9_]+)/g)].map(([, name = '']) => name),
  ),
].sort()

/** Variables of the image, of commands and of libraries, which are not in `kontor.env`. */
const others = ['NODE_ENV', 'NODE_COMPILE_CACHE', 'KONTOR_URL', 'KONTOR_KEY', 'KONTOR_ORG']

interface Service {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
}
const compose = parse(read('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, null>
}
const processes = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('${KONTOR_IMAGE'))

test('files: the environment file and the page of variables name every variable that processes read', (t) => {
  t.true(variables.length > 40 && variables.includes('S3_ENDPOINT') && variables.includes('AGENT_KEY'), variables.join(' '))
  const inFile = [...read('deploy/kontor.env').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
  t.deepEqual(inFile.toSorted(), variables)
  const pages = readdirSync(join(root, 'docs/operations')).map((name) => read(join('docs/operations', name)))
  const inTables = [...[read('docs/operations.md'), ...pages].join('\n').matchAll(/^\| (`[A-Z].*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name = '']) => name),
  )
  t.deepEqual([...new Set(inTables)].filter((name) => !others.includes(name)).toSorted(), variables)
})

test('files: compose.yaml runs the API and one worker for each pool, with variables that there are', (t) => {
  const commands = processes.map(([, { command = [] }]) => command.join(' '))
  for (const pool of workerPools) t.is(commands.filter((command) => command === `worker --pools=${pool}`).length, 1, pool)
  t.is(commands.filter((command) => command === 'api').length, 1)
  for (const [name, { environment = {} }] of processes)
    t.deepEqual(
      Object.keys(environment).filter((variable) => !variables.includes(variable)),
      [],
      name,
    )
  const asked = [...read('compose.yaml').matchAll(/\$\{([A-Z0-9_]+):\?\}/g)].map(([, name = '']) => name)
  const offered = [...read('deploy/compose.env').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
  t.deepEqual([...new Set(asked)].toSorted(), offered.toSorted())
})

test('files: every container of Kontor has a read-only root, no capability, and time to stop', (t) => {
  t.true(processes.length >= 8)
  for (const [name, service] of processes) {
    t.like(service, { read_only: true, cap_drop: ['ALL'], stop_grace_period: '60s' }, name)
    t.true(service.security_opt?.includes('no-new-privileges:true'), name)
    for (const volume of service.volumes ?? []) t.true((volume.split(':')[0] ?? '') in compose.volumes, `${name}: ${volume}`)
  }
  const profile = compose.services.functions?.security_opt?.find((option) => option.startsWith('seccomp='))?.slice('seccomp='.length) ?? ''
  const { defaultAction, syscalls } = JSON.parse(read(profile)) as { defaultAction: string; syscalls: { names: string[] }[] }
  t.is(defaultAction, 'SCMP_ACT_ALLOW')
  const withheld = syscalls.flatMap(({ names }) => names)
  for (const name of ['mount', 'setns', 'ptrace', 'bpf', 'init_module', 'keyctl']) t.true(withheld.includes(name), name)
  for (const name of ['unshare', 'clone', 'clone3', 'prctl']) t.false(withheld.includes(name), name)
})

test('files: the image holds every folder that the product imports from, and no other', (t) => {
  const held = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path = '']) => path)
  for (const path of held) t.true(existsSync(join(root, path)), path)
  const product = readSources().filter(({ path }) => path.endsWith('.ts') && held.includes(path.split('/')[0] ?? ''))
  t.true(product.length > 500)
  const outside = product.flatMap(({ path, files }) =>
    files.filter((file) => !held.includes(file.split('/')[0] ?? '')).map((file) => `${path} imports ${file}`),
  )
  t.deepEqual(outside, [])
  t.true(held.includes('docs/contract'), 'the API serves it as a guide')
})

test('files: the units start by the launcher, as a plain user, and wait longer than a process takes to stop', (t) => {
  const units = readdirSync(join(root, 'deploy/systemd')).filter((name) => name.endsWith('.service'))
  t.deepEqual(units.toSorted(), ['kontor-api@.service', 'kontor-migrate.service', 'kontor-worker@.service'])
  for (const unit of units) {
    const text = read(join('deploy/systemd', unit))
    t.regex(text, /^ExecStart=.*\/opt\/kontor\/bin\/kontor (?:api|migrate|worker --pools=.*)$/m, unit)
    t.regex(text, /^User=kontor$/m, unit)
    t.regex(text, /^ProtectSystem=strict$/m, unit)
    if (!text.includes('Type=oneshot')) t.regex(text, /^TimeoutStopSec=60$/m, unit)
  }
  t.regex(read('deploy/systemd/kontor-worker@.service'), /^RestrictNamespaces=user net ipc$/m)
})

test('files: what the pages name in deploy exists', (t) => {
  const pages = ['docs/operations.md', ...readdirSync(join(root, 'docs/operations')).map((name) => join('docs/operations', name))]
  for (const page of pages) {
    const text = read(page)
    for (const [, path = ''] of text.matchAll(/(?<![\w/])(deploy\/[\w./-]*\w)/g)) t.true(existsSync(join(root, path)), `${page}: ${path}`)
  }
})
