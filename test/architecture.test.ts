import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { homeless, homePaths, homeRules } from '#test/architecture/homes.ts'
import { layerRules, uncut } from '#test/architecture/layers.ts'
import { readDependencies, readOrder, readSources, source } from '#test/architecture/source.ts'
import { statementPaths, statementRules } from '#test/architecture/statements.ts'
import { wordPaths, wordRules } from '#test/architecture/words.ts'

const root = join(import.meta.dirname, '..')
const sources = readSources()
const rules = [...layerRules, ...homeRules, ...statementRules, ...wordRules]

for (const { name, check, broken } of rules) {
  test(name, (t) => {
    const { examined, violations } = check(sources)
    t.deepEqual(violations, [])
    t.true(examined > 0, 'the rule examines no file')
    t.log(`${examined} files examined`)
  })

  test(`it can fail: ${name}`, (t) => {
    const tree = Object.entries(broken).map(([path, text]) => source(path, text))
    t.not(check(tree).violations.length, 0)
    // The folder of a broken example exists, but for the one that has no place.
    for (const path of Object.keys(broken)) t.true(existsSync(join(root, dirname(path))) || path.includes('unheard-of'), path)
  })
}

test('every path in a rule exists', (t) => {
  const inOrder = readOrder().map((domain) => `shared/${domain}`)
  for (const path of [...homePaths, ...statementPaths, ...wordPaths, ...inOrder]) t.true(existsSync(join(root, path)), path)
})

test('imports that are still to be cut are there', (t) => {
  const imports = new Set(sources.flatMap(({ path, files }) => files.map((file) => `${path} → ${file}`)))
  t.deepEqual(
    uncut.filter((one) => !imports.has(one)),
    [],
  )
})

test('every dependency has a home, and nothing else has', (t) => {
  t.deepEqual(homeless(readDependencies()), [])
  t.true(homeless([...readDependencies(), 'left-pad']).includes('left-pad has no home'))
  t.true(homeless(['koa']).includes('pg is no dependency'))
})

test('imports are found however they are written', (t) => {
  const text = `import a from './a.ts'\nimport type {\n  B,\n} from '#shared/b.ts'\nimport 'c/d'\nexport { e } from '@f/g/h'\nconst i = await import('#api/i.ts')`
  const { files, packages } = source('shared/x/y.ts', text)
  t.deepEqual(files, ['shared/x/a.ts', 'shared/b.ts', 'api/i.ts'])
  t.deepEqual(packages, ['c', '@f/g'])
})
