/** A property in the form of RFC 7265: its name, its parameters, the type of its values, and these. */
export type JcalProperty = readonly [
  name: string,
  parameters: Readonly<Record<string, string>>,
  type: string,
  ...values: readonly unknown[],
]

/** A component in the form of RFC 7265: what a file of calendars is made of. */
export type Jcal = readonly [name: string, properties: readonly JcalProperty[], components: readonly Jcal[]]

/** Text that may stand in a file: line breaks are one character, and nothing else that controls a terminal or a parser is left. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it takes out
export const clean = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
