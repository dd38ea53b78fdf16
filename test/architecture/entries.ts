import { eachFile, type Rule, together } from '#test/architecture/rule.ts'
import type { Source } from '#test/architecture/source.ts'

const serial = 'test/support/one-at-a-time.ts'

const isTest = ({ path }: Source): boolean => path.endsWith('.test.ts')
const isEntry = ({ path }: Source): boolean => path.startsWith('test/entries/')

const once = together(
  'every test file is imported by exactly one entry',
  (one) => isTest(one) || isEntry(one),
  (sources) =>
    sources.filter(isTest).flatMap(({ path }) => {
      const entries = sources.filter((one) => isEntry(one) && one.files.includes(path)).map((one) => one.path)
      return entries.length === 1 ? [] : [`${path}: import it in one entry of test/entries, not in ${entries.join(' and ') || 'none'}`]
    }),
  {
    'test/core/records/a.test.ts': '',
    'test/core/records/b.test.ts': '',
    'test/entries/records.ts': `import '#test/core/records/b.test.ts'`,
    'test/entries/types.ts': `import '#test/core/records/b.test.ts'`,
  },
)

const whole = eachFile(
  `an entry imports ${serial}, then test files, and holds nothing else`,
  isEntry,
  ({ text, files }) => {
    const [first, ...tests] = files
    const isPlain = text.split('\n').every((line) => /^(?:import '#test\/[\w./-]+')?$/.test(line))
    return isPlain && first === serial && tests.length > 0 && tests.every((path) => path.endsWith('.test.ts'))
      ? []
      : [`import ${serial}, then each test file on a line`]
  },
  {
    'test/entries/a.ts': `import '#test/core/records/a.test.ts'`,
    'test/entries/b.ts': `import '#${serial}'\nimport '#test/core/records/deals.ts'`,
    'test/entries/c.ts': `import '#${serial}'\nimport '#test/core/records/a.test.ts'\nstart()`,
  },
)

/** The beginnings that a title may have: the file's name, or the end of its path where another file of the entry has the same name. */
function subjectsOf(path: string): string[] {
  const names = path.replace(/\.test\.ts$/, '').split('/')
  return [1, 2].map((count) => names.slice(-count).join(' ').replace(/[-.]/g, ' '))
}

const titles = eachFile(
  "titles begin with their file's subject, because two equal titles stop an entry",
  isTest,
  ({ path, text }) =>
    [...text.matchAll(/^ *test\(\s*['"`](.*)/gm)].flatMap(([, title = '']) =>
      subjectsOf(path).some((subject) => title.startsWith(`${subject}: `)) ? [] : [`begin with '${subjectsOf(path)[0]}: ': ${title}`],
    ),
  { 'test/core/records/long-text.test.ts': `test('a text that is too long is refused', (t) => t.pass())` },
)

const hooks = eachFile(
  'test files have no hooks that run for every test of their entry',
  isTest,
  ({ text }) =>
    /\btest\.(?:before|beforeEach|afterEach|serial|only)\b/.test(text) ? ['open at the first use (shareInThread), end by t.teardown'] : [],
  { 'test/core/records/a.test.ts': `test.before(async () => void (w = await world()))` },
)

export const entryRules: readonly Rule[] = [once, whole, titles, hooks]

/** Every path that these rules name. */
export const entryPaths: readonly string[] = [serial]
