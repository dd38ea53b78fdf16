import test from 'ava'
import { homeless, homeRules } from '#test/architecture/homes.ts'
import { layerRules } from '#test/architecture/layers.ts'
import { readDependencies, readSources, source } from '#test/architecture/source.ts'
import { statementRules } from '#test/architecture/statements.ts'
import { wordRules } from '#test/architecture/words.ts'

const sources = readSources()
const rules = [...layerRules, ...homeRules, ...statementRules, ...wordRules]

for (const { name, violations, broken } of rules) {
  test(name, (t) => t.deepEqual(violations(sources), []))

  test(`it can fail: ${name}`, (t) => {
    const tree = Object.entries(broken).map(([path, text]) => source(path, text))
    t.not(violations(tree).length, 0)
  })
}

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
