/** Orders texts by code units: negative, 0 or positive as the first comes before, equals or comes after the second. */
export const compareText = (first: string, second: string): number => (first < second ? -1 : first > second ? 1 : 0)

/** The first `most` characters of a text. Characters are code points, as in limits of schemas, so that a surrogate pair is never split. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join('')
