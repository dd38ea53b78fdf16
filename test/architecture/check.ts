import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entryPaths, entryRules } from '#test/architecture/entries.ts'
import { homeless, homePaths, homeRules, internals } from '#test/architecture/homes.ts'
import { layerRules } from '#test/architecture/layers.ts'
import { linkRules, wrongReferences } from '#test/architecture/links.ts'
import { manifestPaths, manifestRules, models } from '#test/architecture/manifests.ts'
import { readPages, unknownNames } from '#test/architecture/pages.ts'
import { routeRules, routeTables } from '#test/architecture/routes.ts'
import { readDependencies, readOrder, readSources, source } from '#test/architecture/source.ts'
import { statementPaths, statementRules } from '#test/architecture/statements.ts'
import { testStatementPaths, testStatementRules } from '#test/architecture/test-statements.ts'
import { wordPaths, wordRules } from '#test/architecture/words.ts'

// A program without AVA and without a database, so that it takes seconds. Prints what is wrong and exits with 1.

const root = join(import.meta.dirname, '..', '..')
const sources = readSources()
const rules = [
  ...layerRules,
  ...manifestRules,
  ...homeRules,
  ...statementRules,
  ...wordRules,
  ...entryRules,
  ...testStatementRules,
  ...linkRules,
]

let failed = 0
async function hold(name: string, part: () => void | Promise<void>): Promise<void> {
  try {
    await part()
  } catch (error) {
    failed += 1
    console.log(`${name}\n${(error as Error).message}\n`)
  }
}

for (const { name, check, broken } of rules) {
  await hold(name, () => {
    const { examined, violations } = check(sources)
    assert.deepEqual(violations, [])
    assert.ok(examined > 0, 'the rule examines no file')
  })

  await hold(`it can fail: ${name}`, () => {
    const tree = Object.entries(broken).map(([path, text]) => source(path, text))
    assert.notEqual(check(tree).violations.length, 0)
    // The folder of a broken example exists, except for the path that has no place.
    for (const path of Object.keys(broken)) assert.ok(existsSync(join(root, dirname(path))) || path.includes('unheard-of'), path)
  })
}

for (const { name, check, broken } of routeRules) {
  await hold(name, () => assert.deepEqual(check(routeTables), []))
  await hold(`it can fail: ${name}`, () => assert.notEqual(check({ ...routeTables, ...broken }).length, 0))
}

await hold('every path in a rule exists', () => {
  const inOrder = readOrder().map((domain) => `shared/${domain}`)
  for (const path of [...homePaths, ...entryPaths, ...statementPaths, ...testStatementPaths, ...wordPaths, ...manifestPaths, ...inOrder])
    assert.ok(existsSync(join(root, path)), path)
})

await hold('every part of a manifest has a model that the README names', async () => {
  const parts = [...readFileSync(join(root, 'shared/core/automation/feature.ts'), 'utf8').matchAll(/^ {2}readonly (\w+)\?:/gm)]
  assert.deepEqual(Object.keys(models).sort(), parts.map(([, part]) => part ?? '').sort())
  const readme = readFileSync(join(root, 'shared/README.md'), 'utf8')
  for (const [part, path] of Object.entries(models)) {
    const { feature } = (await import(`#${path}`)) as { feature: Readonly<Record<string, unknown>> }
    assert.ok(Object.hasOwn(feature, part), `${path} has ${part}`)
    assert.match(readme, new RegExp(`\\| ${part}[^\n]*\`${path.split('/')[2]}\``), `the README names the model of ${part}`)
  }
})

await hold('every dependency has a home, and every home a dependency', () => {
  assert.deepEqual(homeless(readDependencies()), [])
  assert.ok(homeless([...readDependencies(), 'left-pad']).includes('left-pad has no home'))
  assert.ok(homeless(['koa']).includes('pg is no dependency'))
})

await hold('the installed libraries have the releases that their internals were checked against', () => {
  for (const { library, release, file, uses } of internals) {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', library, 'package.json'), 'utf8')) as { version: string }
    const advice = `${library} is ${version}, and ${file} was checked against ${release}: compare ${uses} of both, then name the release here`
    assert.ok(version.startsWith(`${release}.`), advice)
  }
})

await hold('the docs name only functions and files that exist', () => {
  assert.deepEqual(unknownNames(readPages(), sources), [])
  const text = 'Calls `neverHeardOf` of `shared/unheard-of.ts`, as `enqueueAll` of `shared/platform/jobs/enqueue-all.ts` does.'
  assert.deepEqual(unknownNames([{ path: 'docs/errors.md', text }], sources), ['neverHeardOf', 'shared/unheard-of.ts'])
})

await hold('links and citations of the pages open, with their headings', () => {
  const pages = readPages()
  assert.ok(pages.length > 60)
  assert.deepEqual(wrongReferences(pages), [])
  // Addresses in two parts, so that this file does not break the rule.
  const folder = 'docs'
  const text = [
    `[a](operations/backup.md#rotating-the-secret-key), [b](architecture.md#a-request), \`[c](d)\`, [e](https://f.example) ![](pictures)`,
    `[moved](backup.md#rotating-the-secret-key), [misspelt](operations/backup.md#rotating-the-secret-keys), [lost](#lost)`,
    '```',
    '[in a block](of-code.md)',
    '```',
    `See ${folder}/operation/backup.md, and document ${2}.`,
  ].join('\n')
  const problems = wrongReferences([{ path: 'docs/errors.md', text }])
  assert.deepEqual(
    problems.map((problem) => problem.replace(/; did you mean .*| instead of .*/, '')),
    [
      `docs/errors.md: line 2: there is no ${folder}/backup.md`,
      'docs/errors.md: line 2: docs/operations/backup.md has no heading #rotating-the-secret-keys',
      'docs/errors.md: line 2: docs/errors.md has no heading #lost',
      `docs/errors.md: line 6: there is no ${folder}/operation/backup.md`,
      'docs/errors.md: line 6: cite docs/contract/<page>.md#<heading>',
    ],
  )
  assert.match(problems[1] ?? '', /; did you mean rotating-the-secret-key\?/)
})

await hold('imports are found in every form', () => {
  const text = `import a from './a.ts'\nimport type {\n  B,\n} from '#shared/b.ts'\nimport 'c/d'\nexport { e } from '@f/g/h'\nconst i = await import('#api/i.ts')`
  const { files, packages } = source('shared/x/y.ts', text)
  assert.deepEqual(files, ['shared/x/a.ts', 'shared/b.ts', 'api/i.ts'])
  assert.deepEqual(packages, ['c', '@f/g'])
})

process.exit(failed === 0 ? 0 : 1)
