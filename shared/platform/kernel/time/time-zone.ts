/** The spelling of names in the IANA list. Intl also accepts other letter case and offsets such as `+02:00`. */
const spelling = /^[A-Z][A-Za-z0-9]*(?:[_+-][A-Za-z0-9]+)*(?:\/[A-Z][A-Za-z0-9]*(?:[_+-][A-Za-z0-9]+)*)*$/
const listedNames = new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]))

/** Whether text is the name of a time zone in the IANA list, such as `Europe/Berlin`, or an older name such as `Asia/Calcutta`. */
export function isTimeZone(text: string): boolean {
  const listedName = listedNames.get(text.toLowerCase())
  if (listedName !== undefined) return listedName === text
  if (!spelling.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}
