/** Transliterations of letters that do not decompose to a Latin letter and an accent. */
const transliterations: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th', ł: 'l', ħ: 'h', ı: 'i', ŋ: 'ng' },
  ...pairs('абвгдезийклмнопрстуфыэіґ', 'a b v g d e z i i k l m n o p r s t u f y e i g'.split(' ')),
  ...{
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
  },
  ...pairs('αβγδεζηικλμνξοπρσςτυφω', 'a v g d e z i i k l m n x o p r s s t y f o'.split(' ')),
  ...{ θ: 'th', χ: 'ch', ψ: 'ps' },
}

/** Transliterates to Latin letters: accents are removed, Cyrillic and Greek are transliterated, other scripts stay. */
export function toLatin(text: string): string {
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
