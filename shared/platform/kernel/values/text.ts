/** The first `most` characters of a text. Characters are code points, as in limits of schemas, so that a surrogate pair is never split. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join('')
