/** A property in jCal form (RFC 7265): name, parameters, value type and values. */
export type JcalProperty = readonly [
  name: string,
  parameters: Readonly<Record<string, string>>,
  type: string,
  ...values: readonly unknown[],
]

/** A component in jCal form (RFC 7265): name, properties and nested components. */
export type Jcal = readonly [name: string, properties: readonly JcalProperty[], components: readonly Jcal[]]

/** Text that is safe in a file: line breaks become `\n`, and all other control characters except tabs are removed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed here
export const cleanFileText = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
