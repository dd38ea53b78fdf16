import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import { entryPaths, entryRules } from '#test/architecture/entries.ts'
import { homeless, homePaths, homeRules, internals } from '#test/architecture/homes.ts'
import { layerRules } from '#test/architecture/layers.ts'
import { linkRules, wrongReferences } from '#test/architecture/links.ts'
import { manifestPaths, manifestRules, models } from '#test/architecture/manifests.ts'
import { readPages, unknownNames } from '#test/architecture/pages.ts'
import { readDependencies, readOrder, readSources, source } from '#test/architecture/source.ts'
import { statementPaths, statementRules } from '#test/architecture/statements.ts'
import { testStatementPaths, testStatementRules } from '#test/architecture/test-statements.ts'
import { wordPaths, wordRules } from '#test/architecture/words.ts'

const root = join(import.meta.dirname, '..')
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

/** How many files each rule examined; printed only when all rules hold, so that failures are not hidden among them. */
const counts: string[] = []
test.after('files examined', (t) => t.log(counts.join('\n')))

for (const { name, check, broken } of rules) {
  test(`architecture: ${name}`, (t) => {
    const { examined, violations } = check(sources)
    t.deepEqual(violations, [])
    t.true(examined > 0, 'the rule examines no file')
    counts.push(`${examined} files: ${name}`)
  })

  test(`architecture: it can fail: ${name}`, (t) => {
    const tree = Object.entries(broken).map(([path, text]) => source(path, text))
    t.not(check(tree).violations.length, 0)
    // The folder of a broken example exists, except for the path that has no place.
    for (const path of Object.keys(broken)) t.true(existsSync(join(root, dirname(path))) || path.includes('unheard-of'), path)
  })
}

test('architecture: every path in a rule exists', (t) => {
  const inOrder = readOrder().map((domain) => `shared/${domain}`)
  for (const path of [...homePaths, ...entryPaths, ...statementPaths, ...testStatementPaths, ...wordPaths, ...manifestPaths, ...inOrder])
    t.true(existsSync(join(root, path)), path)
})

test('architecture: every part of a manifest has a model that the README names', async (t) => {
  const parts = [...readFileSync(join(root, 'shared/core/automation/feature.ts'), 'utf8').matchAll(/^ {2}readonly (\w+)\?:/gm)]
  t.deepEqual(Object.keys(models).sort(), parts.map(([, part]) => part ?? '').sort())
  const readme = readFileSync(join(root, 'shared/README.md'), 'utf8')
  for (const [part, path] of Object.entries(models)) {
    const { feature } = (await import(`#${path}`)) as { feature: Readonly<Record<string, unknown>> }
    t.true(Object.hasOwn(feature, part), `${path} has ${part}`)
    t.regex(readme, new RegExp(`\\| ${part}[^\n]*\`${path.split('/')[2]}\``), `the README names the model of ${part}`)
  }
})

test('architecture: every dependency has a home, and every home a dependency', (t) => {
  t.deepEqual(homeless(readDependencies()), [])
  t.true(homeless([...readDependencies(), 'left-pad']).includes('left-pad has no home'))
  t.true(homeless(['koa']).includes('pg is no dependency'))
})

test('architecture: the installed libraries have the releases that their internals were checked against', (t) => {
  for (const { library, release, file, uses } of internals) {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', library, 'package.json'), 'utf8')) as { version: string }
    const advice = `${library} is ${version}, and ${file} was checked against ${release}: compare ${uses} of both, then name the release here`
    t.true(version.startsWith(`${release}.`), advice)
  }
})

test('architecture: the docs name only functions and files that exist', (t) => {
  t.deepEqual(unknownNames(readPages(), sources), [])
  const text = 'Calls `neverHeardOf` of `shared/unheard-of.ts`, as `enqueueAll` of `shared/platform/jobs/enqueue-all.ts` does.'
  t.deepEqual(unknownNames([{ path: 'docs/errors.md', text }], sources), ['neverHeardOf', 'shared/unheard-of.ts'])
})

test('architecture: links and citations of the pages open, with their headings', (t) => {
  const pages = readPages()
  t.true(pages.length > 60)
  t.deepEqual(wrongReferences(pages), [])
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
  t.deepEqual(
    problems.map((problem) => problem.replace(/; did you mean .*| instead of .*/, '')),
    [
      `docs/errors.md: line 2: there is no ${folder}/backup.md`,
      'docs/errors.md: line 2: docs/operations/backup.md has no heading #rotating-the-secret-keys',
      'docs/errors.md: line 2: docs/errors.md has no heading #lost',
      `docs/errors.md: line 6: there is no ${folder}/operation/backup.md`,
      'docs/errors.md: line 6: cite docs/contract/<page>.md#<heading>',
    ],
  )
  t.regex(problems[1] ?? '', /; did you mean rotating-the-secret-key\?/)
})

test('architecture: imports are found in every form', (t) => {
  const text = `import a from './a.ts'\nimport type {\n  B,\n} from '#shared/b.ts'\nimport 'c/d'\nexport { e } from '@f/g/h'\nconst i = await import('#api/i.ts')`
  const { files, packages } = source('shared/x/y.ts', text)
  t.deepEqual(files, ['shared/x/a.ts', 'shared/b.ts', 'api/i.ts'])
  t.deepEqual(packages, ['c', '@f/g'])
})
