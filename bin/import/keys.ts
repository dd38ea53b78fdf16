import { basename, extname } from 'node:path'
import { reservedFieldKeys } from '#shared/core/types/keys.ts'

/** Maximum characters of the key of a field and of a type (docs/contract/limits.md#lengths-of-texts). */
const maxFieldKey = 64
const maxTypeKey = 32

/** Derives a field key from a column name: `companyName` is `company_name`, `2nd` is `field_2nd`, an empty name `column_<position>`. */
export const makeFieldKey = (header: string, position: number): string => keyOf(header, 'field', maxFieldKey) ?? `column_${position}`

/** Derives a type key from a file name without folder and extension. */
export const makeTypeKey = (file: string): string => keyOf(basename(file, extname(file)), 'type', maxTypeKey) ?? 'imported'

/** Returns the key, with the lowest number appended that makes it unused. Reserved keys count as used. */
export function freeKey(key: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const candidate = key.slice(0, maxFieldKey - suffix.length) + suffix
    if (!taken.has(candidate) && !reservedFieldKeys.has(candidate)) return candidate
  }
}

/** Words of Latin letters and digits, joined by `_`; undefined when the text has none. Camel case is split into words. */
function keyOf(text: string, prefix: string, maxLength: number): string | undefined {
  const words = toLatin(text)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z]{2,})/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  if (words.length === 0) return undefined
  const joined = words.join('_')
  const key = /^[a-z]./.test(joined) ? joined : `${prefix}_${joined}`
  return key.slice(0, maxLength).replace(/_$/, '')
}

/** Transliterations of letters that do not decompose to a Latin letter and an accent. */
const transliterations: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'ng',
  ...pairs('абвгдезийклмнопрстуфыэіґ', 'a b v g d e z i i k l m n o p r s t u f y e i g'.split(' ')),
  ж: 'zh',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  ш: 'sh',
  щ: 'shch',
  ъ: '',
  ь: '',
  ю: 'yu',
  я: 'ya',
  є: 'ye',
  ђ: 'dj',
  љ: 'lj',
  њ: 'nj',
  ћ: 'c',
  џ: 'dz',
  ...pairs('αβγδεζηικλμνξοπρσςτυφω', 'a v g d e z i i k l m n x o p r s s t y f o'.split(' ')),
  θ: 'th',
  χ: 'ch',
  ψ: 'ps',
}

/** Transliterates to Latin letters: accents are removed, Cyrillic and Greek are transliterated, other scripts stay. */
function toLatin(text: string): string {
  const bare = text.normalize('NFKD').replace(/\p{M}/gu, '')
  return bare.replace(/[^\p{ASCII}]/gu, (letter) => {
    const small = letter.toLowerCase()
    const spelled = transliterations[small] ?? letter
    return small === letter ? spelled : spelled.toUpperCase()
  })
}

function pairs(letters: string, spellings: readonly string[]): Record<string, string> {
  return Object.fromEntries([...letters].map((letter, index) => [letter, spellings[index] ?? '']))
}
